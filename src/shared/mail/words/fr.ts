import type { MailWords } from "./en.ts";

export const fr: MailWords = {
  mails: {
    verify: {
      subject: "Confirmez votre adresse e-mail pour {service}",
      lines: [
        "Cette adresse a servi à créer un compte sur {service}. Ouvrez le lien et saisissez le mot de passe choisi lors de l'inscription. Le lien est valable 7 jours.",
        "Si ce n'était pas vous, ne l'ouvrez pas. Il ne se passera rien.",
      ],
      button: "Confirmer l'adresse",
    },
    reset: {
      subject: "Choisissez un nouveau mot de passe pour {service}",
      lines: [
        "Quelqu'un a demandé un nouveau mot de passe pour votre compte sur {service}. Si c'était vous, ouvrez le lien. Il ne sert qu'une fois et reste valable 60 minutes.",
        "Si ce n'était pas vous, ignorez ce message. Votre mot de passe ne change pas.",
      ],
      button: "Choisir un mot de passe",
    },
    passwordChanged: {
      subject: "Votre mot de passe pour {service} a été modifié",
      lines: [
        "Le mot de passe de votre compte sur {service} a été modifié. Toutes les autres sessions sont terminées.",
        "Si ce n'était pas vous, demandez tout de suite un nouveau mot de passe sur la page de connexion et prévenez-nous.",
      ],
    },
    newLogIn: {
      subject: "Nouvelle connexion à {service}",
      lines: [
        "Quelqu'un s'est connecté à votre compte {service} avec votre mot de passe, depuis un appareil et un réseau qui n'avaient jamais été utilisés. Heure : {time}. Adresse : {address}.",
        "Si c'était vous, vous n'avez rien à faire. Sinon, demandez tout de suite un nouveau mot de passe sur la page de connexion. Cela met fin à toutes les sessions.",
      ],
    },
    wrongCodes: {
      subject: "Codes erronés lors de votre connexion à {service}",
      lines: [
        "Quelqu'un a saisi votre mot de passe, puis cinq codes erronés de votre second facteur. Aucun de ces codes n'a donné accès.",
        "Si ce n'était pas vous, quelqu'un connaît votre mot de passe. Changez-le tout de suite.",
      ],
    },
    secondFactorOn: {
      subject: "Le second facteur de votre compte {service} est activé",
      lines: [
        "La connexion à {service} demande maintenant aussi un code de votre application d'authentification.",
        "Si ce n'était pas vous, demandez tout de suite un nouveau mot de passe sur la page de connexion et prévenez-nous.",
      ],
    },
    secondFactorOff: {
      subject: "Le second facteur de votre compte {service} est désactivé",
      lines: [
        "La connexion à {service} ne demande plus que le mot de passe.",
        "Si ce n'était pas vous, demandez tout de suite un nouveau mot de passe sur la page de connexion et prévenez-nous.",
      ],
    },
    roleChanged: {
      subject: "{email} est maintenant {role} sur {service}",
      lines: [
        "Le rôle de {email} sur votre plateforme est maintenant : {role}. Un propriétaire peut tout faire. Un membre ne peut pas modifier les utilisateurs, les clés, les limites ni les avis.",
        "Si aucun propriétaire de votre plateforme n'a fait cela, prévenez-nous.",
      ],
    },
    ownerRemoved: {
      subject: "{email} n'est plus propriétaire sur {service}",
      lines: [
        "{email} était propriétaire de votre plateforme et a été supprimé. Cette adresse ne permet plus de se connecter.",
        "Si personne de votre plateforme n'a fait cela, prévenez-nous.",
      ],
    },
    adminKeyMade: {
      subject: "Une clé app_admin a été créée sur {service}",
      lines: [
        "La clé {key} a été créée pour l'application {application}. Elle peut tout faire dans cette application.",
        "Si personne de votre plateforme ne l'a créée, révoquez-la tout de suite.",
      ],
    },
    connectionNeedsReauth: {
      subject: "Des comptes liés ont besoin de leurs propriétaires",
      lines: [
        "Des réseaux n'acceptent plus l'autorisation de ces comptes. Rien n'y est publié tant que leurs propriétaires ne les ont pas liés de nouveau.",
        "Envoyez à chaque propriétaire un nouveau lien vers la page de liaison.",
      ],
      item: "{at} : {network}, profil {profile}, connexion {connection}",
    },
    endpointDisabled: {
      subject: "Des points de terminaison de webhook ont été désactivés",
      lines: [
        "{service} n'envoie plus rien à ces points de terminaison.",
        "Réparez le récepteur, puis réactivez le point de terminaison. La liste des événements contient ce qu'il a manqué.",
      ],
      item: "{at} : point de terminaison {endpoint}, application {application} : {reason}",
    },
    balanceLow: {
      subject: "Votre solde sur {service} est bas",
      lines: [
        "Les jetons disponibles pour votre plateforme sont passés sous {low}. Quand il n'en reste plus, les publications sont refusées.",
        "Achetez des jetons à temps.",
      ],
      item: "{at} : {available} jetons disponibles",
    },
    outcomeUnknown: {
      subject: "Des publications ont une issue inconnue",
      lines: [
        "Les réseaux n'ont pas dit s'ils ont publié ces publications. Elles comptent comme échouées et ne sont pas renvoyées, pour qu'aucune n'apparaisse deux fois.",
        "Vérifiez le compte. Ne relancez une publication que si elle n'y est pas.",
      ],
      item: "{at} : {network}, publication {post}, profil {profile}",
    },
    email: {
      subject: "Confirmez votre nouvelle adresse e-mail pour {service}",
      lines: [
        "Vous avez demandé à vous connecter à {service} avec cette adresse. Ouvrez le lien et saisissez votre mot de passe. Le lien est valable 7 jours.",
        "Si ce n'était pas vous, ne l'ouvrez pas. Il ne se passera rien.",
      ],
      button: "Confirmer l'adresse",
    },
    emailAsked: {
      subject: "Votre adresse e-mail pour {service} va changer",
      lines: [
        "Quelqu'un qui connaît votre mot de passe a demandé à changer l'adresse de votre compte sur {service}. Elle change dès que le lien envoyé à la nouvelle adresse est ouvert.",
        "Si ce n'était pas vous, changez tout de suite votre mot de passe. Le lien ne fonctionne plus ensuite.",
      ],
    },
    emailChanged: {
      subject: "Votre adresse e-mail pour {service} a été modifiée",
      lines: [
        "Votre compte sur {service} a maintenant une autre adresse e-mail. Celle-ci ne permet plus de se connecter.",
        "Si ce n'était pas vous, prévenez-nous.",
      ],
    },
    operatorReset: {
      subject: "Un opérateur a créé un lien pour {email}",
      lines: [
        "Un opérateur de {service} a créé un lien qui définit un nouveau mot de passe pour {email}. Il ne sert qu'une fois et reste valable 60 minutes.",
        "Si personne ne l'a demandé, prévenez-nous.",
      ],
    },
    platformClosed: {
      subject: "Votre plateforme sur {service} a été fermée",
      lines: [
        "Une personne propriétaire a fermé votre plateforme. Les clés d’API, les connexions et les comptes liés ont pris fin, et les publications programmées sont annulées. Tout sera effacé le {date} UTC, et les jetons non utilisés seront perdus.",
        "S’il s’agit d’une erreur, prévenez-nous avant cette date : nous pouvons rouvrir la plateforme. Ses clés et ses comptes liés ne reviendront pas.",
      ],
    },
    platformReopened: {
      subject: "Votre plateforme sur {service} est de nouveau ouverte",
      lines: [
        "Un opérateur de {service} a rouvert votre plateforme. Connectez-vous comme avant. Les clés d’API et les comptes liés ont pris fin : créez de nouvelles clés et faites lier les comptes à nouveau. Les publications programmées restent annulées.",
        "Si aucune personne propriétaire ne l’a demandé, prévenez-nous.",
      ],
    },
    platformEnding: {
      subject: "Votre plateforme sur {service} va être effacée",
      lines: [
        "Votre plateforme est fermée. Tout sera effacé le {date} UTC, et les jetons non utilisés seront perdus. Rien ne pourra ensuite être récupéré.",
        "Si vous voulez la garder, prévenez-nous avant cette date.",
      ],
    },
    invitation: {
      subject: "Invitation à rejoindre {service}",
      lines: [
        "Vous êtes invité à rejoindre {platform} sur {service}. Ouvrez le lien et choisissez un mot de passe. Il ne sert qu'une fois et reste valable 7 jours.",
        "Si vous ne le souhaitez pas, ignorez ce message. Il ne se passera rien.",
      ],
      button: "Accepter l'invitation",
    },
  },
  quote: "« {text} »",
  aTeam: "une équipe",
  values: {
    owner: "propriétaire",
    member: "membre",
    gone: "son récepteur a répondu 410 Gone",
    abandoned: "rien n'a pu être livré pendant 5 jours",
    unknown: "inconnue",
  },
  more: "Et {count} de plus.",
  footer: {
    sentBy: "Envoyé par {service}. Ce message est automatique. Personne ne lit les réponses.",
    support: "Aide : {url}",
    off: "Désactiver ces messages pour votre plateforme",
  },
};
