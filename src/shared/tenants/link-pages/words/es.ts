import type { PageWords } from "./en.ts";

export const es: PageWords = {
  kinds: {
    verify: {
      title: "Confirma tu dirección de correo",
      intro:
        "Introduce la contraseña con la que te registraste. Demuestra que la solicitud es tuya.",
      label: "Contraseña",
      hint: "",
      button: "Confirmar dirección",
      doneTitle: "Dirección confirmada",
      done: "Puedes cerrar esta ventana.",
    },
    reset: {
      title: "Elige una contraseña nueva",
      intro: "Al guardarla se cierran todas tus sesiones.",
      label: "Contraseña nueva",
      hint: "De 12 a 128 caracteres. Ni una contraseña común, ni formada con tu dirección de correo o con el nombre de tu equipo o de este servicio.",
      button: "Guardar contraseña",
      doneTitle: "Contraseña guardada",
      done: "Inicia sesión con la contraseña nueva. Puedes cerrar esta ventana.",
    },
    email: {
      title: "Confirma tu nueva dirección",
      intro: "Introduce tu contraseña. Demuestra que la solicitud es tuya.",
      label: "Contraseña",
      hint: "",
      button: "Confirmar dirección",
      doneTitle: "Dirección cambiada",
      done: "Inicia sesión con la nueva dirección a partir de ahora. Puedes cerrar esta ventana.",
    },
    invitation: {
      title: "Acepta la invitación",
      intro: "Te unes a {platform} en {service}. Iniciarás sesión como {email}.",
      label: "Contraseña",
      hint: "De 12 a 128 caracteres. Ni una contraseña común, ni formada con tu dirección de correo o con el nombre de tu equipo o de este servicio.",
      button: "Aceptar invitación",
      doneTitle: "Ya formas parte",
      done: "Inicia sesión con tu dirección de correo y esta contraseña. Puedes cerrar esta ventana.",
    },
  },
  notices: {
    title: "¿Desactivar estos correos?",
    intro:
      "Entonces no los recibe ningún propietario de tu plataforma. Un propietario puede activarlos de nuevo: PATCH /v1/platform/notices.",
    button: "Desactivar",
    doneTitle: "Desactivados",
    done: "Los propietarios de tu plataforma ya no reciben estos correos. Puedes cerrar esta ventana.",
    invalid:
      "El enlace está dañado o tiene más de 60 días, o ya no eres propietario de esta plataforma.",
    kinds: {
      connectionNeedsReauth: "Correos sobre cuentas que sus dueños tienen que vincular de nuevo",
      endpointDisabled: "Correos sobre endpoints de webhook desactivados",
      balanceLow: "Correos sobre un saldo bajo",
      outcomeUnknown: "Correos sobre publicaciones con resultado desconocido",
    },
  },
  invalidTitle: "Este enlace no funciona",
  invalid:
    "Ya se usó, ha caducado o se sustituyó por otro más reciente. Si acabas de usarlo, ha funcionado: inicia sesión. Si no, pide un enlace nuevo.",
  acceptedTitle: "Ya formas parte del equipo",
  accepted:
    "Esta invitación ya se aceptó. Inicia sesión con tu correo electrónico y la contraseña que elegiste. Si no la recuerdas, restablécela donde inicias sesión.",
  email: "Correo electrónico",
  wrongPassword: "La contraseña no es correcta. Inténtalo de nuevo.",
  badNewPassword: "Elige una contraseña de 12 a 128 caracteres, difícil de adivinar.",
  tooManyTitle: "Demasiados intentos",
  tooMany: "Espera unos minutos y vuelve a abrir el enlace.",
  taken: "Otra persona inicia sesión con esta dirección.",
  hasAccount:
    "Ya hay una cuenta con esta dirección de correo. Pide una invitación para otra dirección.",
  suspended: "La cuenta de tu equipo está suspendida o cerrada. Pregunta a quien te invitó.",
  failedTitle: "No ha funcionado",
  failed: "El servicio no puede responder ahora. Vuelve a abrir el enlace dentro de un momento.",
};
