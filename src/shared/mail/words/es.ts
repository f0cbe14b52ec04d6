import type { Words } from "./en.ts";

export const es: Words = {
  mails: {
    verify: {
      subject: "Confirma tu dirección de correo para {service}",
      lines: [
        "Esta dirección se usó para registrarse en {service}. Abre el enlace e introduce la contraseña con la que te registraste. El enlace vale 7 días.",
        "Si no fuiste tú, no lo abras. No pasará nada.",
      ],
      button: "Confirmar dirección",
    },
    reset: {
      subject: "Elige una contraseña nueva para {service}",
      lines: [
        "Alguien pidió una contraseña nueva para tu cuenta de {service}. Si fuiste tú, abre el enlace. Vale una vez, durante 60 minutos.",
        "Si no fuiste tú, ignora este correo. Tu contraseña no cambia.",
      ],
      button: "Elegir contraseña",
    },
    passwordChanged: {
      subject: "Se cambió tu contraseña de {service}",
      lines: [
        "Se cambió la contraseña de tu cuenta de {service}. Las demás sesiones se cerraron.",
        "Si no fuiste tú, pide ahora una contraseña nueva en la página de inicio de sesión y avísanos.",
      ],
    },
  },
  footer: {
    sentBy: "Enviado por {service}. Este correo es automático. Nadie lee las respuestas.",
    support: "Ayuda: {url}",
  },
};
