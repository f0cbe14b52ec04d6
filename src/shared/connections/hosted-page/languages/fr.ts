import type { Words } from "./en.ts";

export const fr: Words = {
  skip: "Aller au contenu",
  logo: "Logo de l’entreprise",
  problem: {
    title: "Erreur : {title}",
    general: "Cela n’a pas fonctionné",
    at: "{network} n’a pas été connecté",
    goTo: "Aller à {network}",
  },
  page: {
    title: "Connectez vos comptes",
    lead: "Choisissez les comptes sur lesquels il est permis de publier.",
    leadFor: "Choisissez les comptes sur lesquels {brand} peut publier.",
    note: "Rien n’est publié depuis cette page.",
    progress: "{linked} sur {total} connectés",
    linked: "{network} est connecté.",
    done: "Terminer",
    doneHint: "Connectez d’autres comptes, ou appuyez sur « Terminer ».",
    cancel: "Annuler",
    back: "Retour",
    backTo: "Retour à {brand}",
  },
  steps: {
    label: "Étapes",
    network: "Choisir un réseau",
    allow: "Autoriser l’accès",
    done: "C’est fini",
  },
  card: {
    linked: "Connecté",
    linkedAs: "Connecté en tant que {name}",
    unlinked: "Non connecté",
    attention: "À reconnecter",
    again: "{name} doit être connecté à nouveau. Les publications en attente partiront ensuite.",
    unavailable: "Indisponible pour le moment.",
    leaves: "Vous vous identifiez sur {network}, puis vous revenez ici.",
    connect: "Connecter {network}",
    continueAt: "Continuer sur {network}",
    reconnect: "Reconnecter {network}",
    another: "Connecter un autre compte à la place",
    otherWay: "Connecter d’une autre façon",
  },
  about: {
    facebook: "Pour les pages Facebook que vous gérez.",
    instagram: "Pour les comptes professionnels : entreprise ou créateur.",
  },
  otherWays: {
    bluesky: "Utiliser plutôt un mot de passe d’application",
  },
  choice: {
    title: "Choisissez un compte",
    lead: "Sur {network}, vous pouvez publier pour plusieurs comptes.",
    legend: "Lequel faut-il connecter ?",
    cut: "Il y en a plus que ceux affichés ici. Si le vôtre manque, recommencez et ne sélectionnez que lui sur {network}.",
    submit: "Connecter celui-ci",
    back: "Retour à tous les réseaux",
  },
  notices: {
    unknown: {
      title: "Ce lien ne fonctionne pas",
      text: "Il est peut-être incomplet ou périmé. Retournez au service qui vous a envoyé ici et recommencez.",
    },
    completed: {
      title: "Vous avez terminé ici",
      text: "Cette page a déjà servi et vos comptes sont connectés. Pour en connecter d’autres, recommencez là d’où vous venez.",
    },
    canceled: {
      title: "Cela a été annulé",
      text: "Plus rien ne peut être connecté sur cette page. Pour continuer, recommencez là d’où vous venez.",
    },
    ended: {
      title: "Ce lien n’est plus valable",
      text: "Le service qui vous a envoyé ici l’a retiré, et plus rien ne peut être connecté sur cette page. Les comptes connectés le restent ; pour les autres, recommencez là d’où vous venez.",
    },
    expired: {
      title: "Cette page a expiré",
      text: "Elle est restée ouverte trop longtemps. Les comptes connectés le restent ; pour les autres, recommencez là d’où vous venez.",
    },
    open: {
      title: "Ce n’est pas possible maintenant",
      text: "Aucun compte ne peut être connecté pour vous en ce moment. Adressez-vous au service qui vous a envoyé ici.",
    },
    allSet: {
      title: "Tout est prêt",
      text: "Vos comptes sont connectés. Vous pouvez fermer cette fenêtre.",
    },
    nothing: {
      title: "Rien n’a été connecté",
      text: "Vous êtes parti sans connecter de compte. Vous pouvez fermer cette fenêtre.",
    },
    foreign: {
      title: "Cela ne venait pas de notre page",
      text: "Pour votre sécurité, rien n’a été fait. Ouvrez à nouveau le lien que vous avez reçu et continuez à partir de là.",
    },
    unreadable: {
      title: "Le formulaire n’a pas pu être lu",
      text: "Il contenait plus que ce que cette page accepte, ou est arrivé endommagé ; rien n’a été fait. Ouvrez à nouveau le lien que vous avez reçu et continuez à partir de là.",
    },
    deletionReceived: {
      title: "Nous avons reçu votre demande",
      text: "Vos comptes sont en cours de déconnexion et leurs données d’accès sont en cours de suppression.",
    },
    deletionDone: {
      title: "Vos comptes sont déconnectés",
      text: "Leurs données d’accès ont été supprimées.",
    },
    usedStep: {
      title: "Cette étape est passée",
      text: "Elle a déjà servi ou a pris trop de temps. Ouvrez à nouveau le lien que vous avez reçu pour voir ce qui est connecté, et continuez à partir de là.",
    },
    otherBrowser: {
      title: "Restez dans un seul navigateur",
      text: "Vous avez commencé dans un autre navigateur, ou celui-ci ne garde pas les cookies. Pour votre sécurité, rien n’a été connecté. Ouvrez le lien que vous avez reçu dans un seul navigateur et suivez-y toutes les étapes.",
    },
    outage: {
      title: "Veuillez réessayer",
      text: "Nous n’avons pas pu le faire à l’instant. Rechargez la page dans une minute ; rien n’est perdu.",
    },
    failure: {
      title: "Une erreur s’est produite",
      text: "C’est notre faute et cela a été enregistré ({id}). Ouvrez à nouveau le lien que vous avez reçu pour voir ce qui est connecté.",
    },
  },
  problems: {
    wrong_credentials:
      "{network} n’a pas accepté ce nom et ce mot de passe. Vérifiez qu’ils ne contiennent pas de faute de frappe et réessayez.",
    app_password_needed:
      "Il faut ici un mot de passe d’application, et non celui avec lequel vous vous identifiez. Créez-en un dans les paramètres de {network} et saisissez-le ici.",
    account_moved:
      "Ce compte a changé de serveur. Saisissez ici son nom d’utilisateur, pas l’adresse e-mail.",
    account_not_found:
      "{network} ne connaît pas ce compte. Vérifiez l’orthographe, y compris la partie après le dernier point.",
    account_restricted:
      "{network} a restreint ce compte. Identifiez-vous sur {network}, faites ce qui y est demandé, puis revenez réessayer.",
    instance_unreachable:
      "Ce serveur n’a pas pu être joint. Vérifiez l’adresse ; si elle est juste, réessayez dans quelques minutes.",
    instance_unsupported:
      "Ce serveur ne répond pas comme le font les serveurs {network}. Vérifiez l’adresse, ou utilisez un compte sur un autre serveur.",
    access_denied:
      "Vous n’avez pas donné votre accord sur {network} : rien n’a été connecté. Recommencez si c’était une erreur.",
    other_account:
      "Vous avez donné votre accord pour un autre compte que celui saisi : rien n’a été connecté. Connectez-vous sur {network} avec le compte saisi, ou saisissez ici l’autre nom.",
    permission_missing:
      "Une autorisation nécessaire pour publier n’a pas été donnée sur {network}. Recommencez et laissez tout coché.",
    rate_limited:
      "{network} demande une pause après tant de tentatives. Attendez quelques minutes, puis réessayez.",
    network_unavailable:
      "{network} ne répond pas pour le moment. Rien n’a été connecté ; réessayez dans quelques minutes.",
    account_kind_unsupported:
      "{network} ne permet pas à d’autres services de publier pour ce type de compte. Passez-le en compte professionnel dans ses paramètres sur {network}, puis revenez réessayer.",
    nothing_to_choose:
      "{network} ne nous a montré aucune page pour laquelle vous pouvez publier. Recommencez et laissez chaque page cochée ; si vous n’en avez pas, créez-en une ou demandez à son propriétaire de vous laisser créer du contenu.",
    input_invalid:
      "Il manque quelque chose, ou ce n’est pas écrit comme prévu. Vérifiez les champs et réessayez.",
    unpaid:
      "Les comptes ne peuvent pas être connectés pour le moment. Rien n’a été modifié ; prévenez le service qui vous a envoyé ici.",
    too_many_attempts:
      "Il y a eu trop de tentatives sur cette page. Retournez au service qui vous a envoyé ici et recommencez.",
    not_available: "{network} ne peut pas être connecté pour le moment.",
    nothing_linked: "Aucun compte n’est encore connecté. Connectez-en d’abord au moins un.",
    nothing_chosen: "Choisissez d’abord l’un d’eux.",
    step_over: "Le passage sur {network} a pris trop de temps ou a déjà servi. Recommencez-le.",
  },
  fields: {
    "linkedin.kind": {
      label: "Publier en tant que",
      hint: "Une page d’entreprise peut être choisie par qui l’administre",
      choices: { member: "Moi-même", organization: "Une page d’entreprise" },
    },
    "bluesky.identifier": {
      label: "Identifiant (facultatif)",
      hint: "Par exemple alice.bsky.social, ou l’adresse de votre propre serveur. Laissez le champ vide pour vous identifier sur bsky.social",
    },
    "bluesky.alternative.identifier": {
      label: "Identifiant ou adresse e-mail",
      hint: "Celui avec lequel vous vous identifiez sur Bluesky, par exemple alice.bsky.social",
    },
    "bluesky.alternative.appPassword": {
      label: "Mot de passe d’application",
      hint: "Pas votre propre mot de passe : créez-en un sur Bluesky dans Paramètres, Confidentialité et sécurité, Mots de passe d’application",
    },
    "bluesky.alternative.server": {
      label: "Adresse du serveur (facultatif)",
      hint: "Seulement si votre compte est sur un serveur à part, que l’identifiant ne permet pas de trouver",
    },
    "mastodon.instance": {
      label: "Votre serveur",
      hint: "L’adresse de votre serveur Mastodon, ou votre nom complet comme @alice@mastodon.social",
    },
  },
};
