import type { Words } from "./en.ts";

export const fr: Words = {
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
  footer: {
    sentBy: "Envoyé par {service}. Ce message est automatique. Personne ne lit les réponses.",
    support: "Aide : {url}",
  },
};
