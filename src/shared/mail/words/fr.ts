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
  },
  footer: {
    sentBy: "Envoyé par {service}. Ce message est automatique. Personne ne lit les réponses.",
    support: "Aide : {url}",
  },
};
