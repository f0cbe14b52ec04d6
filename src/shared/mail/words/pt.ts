import type { Words } from "./en.ts";

export const pt: Words = {
  mails: {
    verify: {
      subject: "Confirme o seu endereço de e-mail para {service}",
      lines: [
        "Este endereço foi usado para criar uma conta em {service}. Abra o link e introduza a palavra-passe que escolheu ao registar-se. O link é válido por 7 dias.",
        "Se não foi você, não o abra. Nada acontece.",
      ],
      button: "Confirmar endereço",
    },
    reset: {
      subject: "Escolha uma nova palavra-passe para {service}",
      lines: [
        "Alguém pediu uma nova palavra-passe para a sua conta em {service}. Se foi você, abra o link. Funciona uma vez, durante 60 minutos.",
        "Se não foi você, ignore este e-mail. A sua palavra-passe não muda.",
      ],
      button: "Escolher palavra-passe",
    },
    passwordChanged: {
      subject: "A sua palavra-passe de {service} foi alterada",
      lines: [
        "A palavra-passe da sua conta em {service} foi alterada. Todas as outras sessões terminaram.",
        "Se não foi você, peça já uma nova palavra-passe na página de início de sessão e avise-nos.",
      ],
    },
  },
  footer: {
    sentBy: "Enviado por {service}. Este e-mail é automático. Ninguém lê as respostas.",
    support: "Ajuda: {url}",
  },
};
