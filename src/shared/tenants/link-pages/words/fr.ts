import type { PageWords } from "./en.ts";

export const fr: PageWords = {
  kinds: {
    verify: {
      title: "Confirmez votre adresse e-mail",
      intro:
        "Saisissez le mot de passe choisi lors de l'inscription. Il montre que la demande vient de vous.",
      label: "Mot de passe",
      hint: "",
      button: "Confirmer l'adresse",
      doneTitle: "Adresse confirmée",
      done: "Vous pouvez fermer cette fenêtre.",
    },
    reset: {
      title: "Choisissez un nouveau mot de passe",
      intro: "L'enregistrer met fin à toutes vos sessions.",
      label: "Nouveau mot de passe",
      hint: "De 12 à 128 caractères. Ni mot de passe courant, ni tiré de votre adresse e-mail ou du nom de votre équipe ou de ce service.",
      button: "Enregistrer le mot de passe",
      doneTitle: "Mot de passe enregistré",
      done: "Connectez-vous avec le nouveau mot de passe. Vous pouvez fermer cette fenêtre.",
    },
    email: {
      title: "Confirmez votre nouvelle adresse",
      intro: "Saisissez votre mot de passe. Il montre que la demande vient de vous.",
      label: "Mot de passe",
      hint: "",
      button: "Confirmer l'adresse",
      doneTitle: "Adresse modifiée",
      done: "Connectez-vous désormais avec la nouvelle adresse. Vous pouvez fermer cette fenêtre.",
    },
    invitation: {
      title: "Accepter l'invitation",
      intro: "Vous rejoignez {platform} sur {service}. Vous vous connecterez avec {email}.",
      label: "Mot de passe",
      hint: "De 12 à 128 caractères. Ni mot de passe courant, ni tiré de votre adresse e-mail ou du nom de votre équipe ou de ce service.",
      button: "Accepter l'invitation",
      doneTitle: "C'est fait",
      done: "Connectez-vous avec votre adresse e-mail et ce mot de passe. Vous pouvez fermer cette fenêtre.",
    },
  },
  notices: {
    title: "Désactiver ces messages ?",
    intro:
      "Aucun propriétaire de votre plateforme ne les recevra plus. Un propriétaire peut les réactiver : PATCH /v1/platform/notices.",
    button: "Désactiver",
    doneTitle: "Messages désactivés",
    done: "Les propriétaires de votre plateforme ne reçoivent plus ces messages. Vous pouvez fermer cette fenêtre.",
    invalid:
      "Le lien est abîmé ou a plus de 60 jours, ou vous n'êtes plus propriétaire de cette plateforme.",
    kinds: {
      connectionNeedsReauth:
        "Messages sur les comptes que leurs propriétaires doivent lier de nouveau",
      endpointDisabled: "Messages sur les points de terminaison de webhook désactivés",
      balanceLow: "Messages sur un solde bas",
      outcomeUnknown: "Messages sur les publications à l'issue inconnue",
    },
  },
  invalidTitle: "Ce lien ne fonctionne pas",
  invalid:
    "Il a déjà servi, a expiré ou a été remplacé par un plus récent. Si vous venez de l'utiliser, il a fonctionné : connectez-vous. Sinon, demandez un nouveau lien.",
  acceptedTitle: "Vous avez déjà rejoint l'équipe",
  accepted:
    "Cette invitation a été acceptée. Connectez-vous avec votre adresse e-mail et le mot de passe que vous avez choisi. Si vous ne le connaissez plus, réinitialisez-le là où vous vous connectez.",
  email: "Adresse e-mail",
  wrongPassword: "Ce mot de passe n'est pas le bon. Réessayez.",
  badNewPassword: "Choisissez un mot de passe de 12 à 128 caractères, difficile à deviner.",
  tooManyTitle: "Trop de tentatives",
  tooMany: "Attendez quelques minutes, puis ouvrez de nouveau le lien.",
  taken: "Quelqu'un d'autre se connecte avec cette adresse.",
  hasAccount:
    "Un compte existe déjà pour cette adresse e-mail. Demandez une invitation pour une autre adresse.",
  suspended:
    "Le compte de votre équipe est suspendu ou fermé. Demandez à la personne qui vous a invité.",
  failedTitle: "Cela n'a pas fonctionné",
  failed:
    "Le service ne peut pas répondre pour l'instant. Ouvrez de nouveau le lien dans un moment.",
};
