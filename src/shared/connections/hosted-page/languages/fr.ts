import type { Words } from "./en.ts";

export const fr: Words = {
  skip: "Aller au contenu",
  logo: "Logo de l’entreprise",
  problem: {
    title: "Erreur : {title}",
    general: "Cela n’a pas fonctionné",
    at: "{network} n’a pas été connecté",
    kept: "Votre connexion à {network} n’a pas été modifiée",
  },
  page: {
    title: "Connectez vos comptes",
    lead: "Choisissez les comptes sur lesquels nous pourrons publier.",
    leadFor: "Choisissez les comptes sur lesquels {brand} pourra publier.",
    note: "Rien n’est publié depuis cette page.",
    progress: "{linked} sur {total} connectés",
    linked: "{network} est connecté.",
    done: "Terminer",
    doneHint: "Vous pouvez connecter d’autres comptes ou terminer ici.",
    cancel: "Annuler",
    back: "Retour",
    backTo: "Retour à {brand}",
    later: "Vous pouvez fermer cette fenêtre. Le lien reste valable jusqu’à son expiration.",
    goOn: "Reprendre la connexion",
    accounts: "Comptes connectés",
  },
  footer: {
    privacy: "Confidentialité",
    terms: "Conditions",
    support: "Aide",
    newTab: "(s’ouvre dans un nouvel onglet)",
  },
  steps: {
    label: "Étapes",
    network: "Choisir un réseau",
    allow: "Autoriser l’accès",
    done: "Terminé",
  },
  card: {
    linkedAs: "Connecté en tant que {name}",
    unlinked: "Non connecté",
    attention: "À reconnecter",
    again: "Reconnectez {name}. Les publications en attente seront ensuite publiées.",
    unavailable: "Indisponible pour le moment.",
    leaves: "Vous vous identifiez sur {network}, puis vous revenez ici.",
    connect: "Connecter {network}",
    continueAt: "Continuer vers {network}",
    reconnect: "Reconnecter {network}",
    partly: "Une autorisation manque",
    lacks:
      "Toutes les autorisations de {network} n’ont pas été accordées : certaines fonctions manquent. Reconnectez ce compte et accordez-les toutes.",
    another: "Si vous connectez un autre compte, il remplacera celui-ci.",
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
    lead: "Votre connexion à {network} donne accès à plusieurs comptes.",
    legend: "Quel compte souhaitez-vous connecter ?",
    cut: "Tous vos comptes ne tiennent pas sur cette page. Si le vôtre n’apparaît pas, recommencez et ne sélectionnez que lui sur {network}.",
    submit: "Connecter ce compte",
    back: "Retour à tous les réseaux",
  },
  notices: {
    unknown: {
      title: "Ce lien ne fonctionne pas",
      text: "Il est peut-être incomplet ou a expiré. Retournez au service qui vous a envoyé ici et recommencez.",
    },
    completed: {
      title: "Vous avez terminé",
      text: "Vos comptes sont connectés et ce lien a déjà été utilisé. Pour en connecter d’autres, retournez au service qui vous a envoyé ici et recommencez.",
    },
    canceled: {
      title: "La connexion a été annulée",
      text: "Plus rien ne peut être connecté sur cette page. Pour continuer, retournez au service qui vous a envoyé ici et recommencez.",
    },
    ended: {
      title: "Ce lien n’est plus valable",
      text: "Le service qui vous a envoyé ici l’a désactivé : plus rien ne peut être connecté sur cette page. Les comptes connectés le restent. Pour en connecter d’autres, recommencez depuis ce service.",
    },
    expired: {
      title: "Cette page a expiré",
      text: "Elle est restée ouverte trop longtemps. Les comptes connectés le restent. Pour en connecter d’autres, retournez au service qui vous a envoyé ici et recommencez.",
    },
    open: {
      title: "Ce n’est pas possible maintenant",
      text: "Vos comptes ne peuvent pas être connectés pour le moment. Adressez-vous au service qui vous a envoyé ici.",
    },
    allSet: {
      title: "Tout est prêt",
      text: "Vos comptes sont connectés. Vous pouvez fermer cette fenêtre.",
    },
    paused: {
      title: "Rien n’est encore connecté",
      text: "Vous pouvez fermer cette fenêtre. Pour connecter un compte plus tard, ouvrez à nouveau votre lien.",
    },
    foreign: {
      title: "Cette demande ne venait pas de notre page",
      text: "Pour votre sécurité, rien n’a été fait. Ouvrez à nouveau votre lien et continuez à partir de là.",
    },
    unreadable: {
      title: "Le formulaire n’a pas pu être lu",
      text: "Il était trop volumineux ou est arrivé endommagé ; rien n’a été fait. Ouvrez à nouveau votre lien et continuez à partir de là.",
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
      title: "Cette étape n’est plus valable",
      text: "Elle a déjà été utilisée ou a pris trop de temps. Ouvrez à nouveau votre lien pour voir ce qui est connecté, et continuez à partir de là.",
    },
    otherBrowser: {
      title: "Restez dans un seul navigateur",
      text: "Vous avez commencé dans un autre navigateur, ou celui-ci n’enregistre pas les cookies. Pour votre sécurité, rien n’a été connecté. Ouvrez votre lien dans un seul navigateur et suivez-y toutes les étapes.",
    },
    outage: {
      title: "Veuillez réessayer",
      text: "L’opération n’a pas abouti. Rechargez la page dans une minute ; rien n’est perdu.",
    },
    failure: {
      title: "Une erreur s’est produite",
      text: "L’erreur vient de notre côté et a été enregistrée ({id}). Ouvrez à nouveau votre lien pour voir ce qui est connecté.",
    },
  },
  problems: {
    wrong_credentials:
      "{network} n’a pas accepté ce mot de passe d’application pour ce compte. Vérifiez qu’il ne contient pas de faute de frappe, ou créez-en un nouveau.",
    app_password_needed:
      "Ce n’est pas un mot de passe d’application. Créez-en un dans les paramètres de {network} et saisissez-le ici.",
    account_moved:
      "Ce compte a changé de serveur. Saisissez son identifiant plutôt que l’adresse e-mail.",
    account_not_found:
      "{network} ne connaît pas ce compte. Vérifiez l’orthographe, y compris la partie après le dernier point.",
    account_restricted:
      "{network} a restreint ce compte. Identifiez-vous sur {network} et suivez les instructions, puis réessayez ici.",
    instance_unreachable:
      "Ce serveur est injoignable. Vérifiez l’adresse. Si elle est correcte, réessayez dans quelques minutes.",
    instance_protected:
      "La protection de ce serveur refuse les autres services. Réessayez plus tard ou demandez à l’administrateur du serveur de laisser passer son API.",
    instance_unsupported:
      "Ce serveur ne répond pas comme un serveur {network}. Vérifiez l’adresse ou demandez à l’administrateur du serveur. Un compte sur un autre serveur convient aussi.",
    access_denied:
      "Vous n’avez pas donné votre accord sur {network}. Recommencez si c’était une erreur.",
    other_account:
      "Vous avez donné votre accord pour un autre compte. Identifiez-vous sur {network} avec le compte saisi ici, ou saisissez l’autre compte.",
    permission_missing:
      "Une autorisation nécessaire pour publier n’a pas été donnée sur {network}. Recommencez et laissez tout sélectionné.",
    rate_limited:
      "Il y a eu trop de tentatives sur {network}. Attendez quelques minutes, puis réessayez.",
    service_limited:
      "Le service qui vous a envoyé ici ne peut plus connecter de compte {network} aujourd’hui. Votre compte n’y est pour rien. Réessayez demain.",
    service_refused:
      "{network} ne laisse pas le service qui vous a envoyé ici connecter ce compte pour le moment. Veuillez prévenir ce service.",
    network_unavailable: "{network} ne répond pas pour le moment. Réessayez dans quelques minutes.",
    account_kind_unsupported:
      "{network} ne permet pas à d’autres services de publier sur ce type de compte. Passez à un compte professionnel dans les paramètres de {network}, puis réessayez ici.",
    nothing_to_choose:
      "{network} n’a indiqué aucune page sur laquelle vous pouvez publier. Recommencez et laissez toutes les pages sélectionnées. Si vous n’en avez pas, créez-en une ou demandez à l’administrateur d’une page de vous laisser créer du contenu.",
    input_invalid:
      "Cette information manque ou n’a pas le format attendu. Vérifiez-la et réessayez.",
    unpaid:
      "Les comptes ne peuvent pas être connectés pour le moment. Rien n’a été modifié. Prévenez le service qui vous a envoyé ici.",
    too_many_attempts:
      "Il y a eu trop de tentatives sur cette page. Retournez au service qui vous a envoyé ici et recommencez.",
    not_available: "{network} ne peut pas être connecté pour le moment.",
    nothing_linked: "Aucun compte n’est encore connecté. Connectez-en d’abord au moins un.",
    nothing_chosen: "Choisissez d’abord un compte.",
    step_over:
      "Cette étape sur {network} a pris trop de temps ou a déjà été utilisée. Recommencez.",
  },
  fields: {
    "linkedin.kind": {
      label: "Publier en tant que",
      hint: "Choisissez une page d’entreprise seulement si vous l’administrez",
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
      hint: "Pas celui avec lequel vous vous identifiez. Créez-en un sur Bluesky : Paramètres > Confidentialité et sécurité > Mots de passe d’application",
    },
    "bluesky.alternative.server": {
      label: "Adresse du serveur (facultatif)",
      hint: "Seulement si votre compte est sur un serveur à part, que l’identifiant ne permet pas de trouver",
    },
    "mastodon.instance": {
      label: "Votre serveur",
      hint: "L’adresse de votre serveur Mastodon, ou votre identifiant complet, par exemple @alice@mastodon.social",
    },
  },
};
