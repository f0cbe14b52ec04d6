import type { MailWords } from "./en.ts";

export const es: MailWords = {
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
    newLogIn: {
      subject: "Nuevo inicio de sesión en {service}",
      lines: [
        "Alguien inició sesión en tu cuenta de {service} con tu contraseña, desde un dispositivo y una red que no se habían usado antes. Hora: {time}. Dirección: {address}.",
        "Si fuiste tú, no tienes que hacer nada. Si no, pide ahora una contraseña nueva en la página de inicio de sesión. Eso cierra todas las sesiones.",
      ],
    },
    wrongCodes: {
      subject: "Códigos incorrectos al iniciar sesión en {service}",
      lines: [
        "Alguien escribió tu contraseña y después cinco códigos incorrectos de tu segundo factor. Ninguno de esos códigos le dio acceso.",
        "Si no fuiste tú, alguien conoce tu contraseña. Cámbiala ahora.",
      ],
    },
    secondFactorOn: {
      subject: "El segundo factor de tu cuenta de {service} está activado",
      lines: [
        "Al iniciar sesión en {service} ahora también se pide un código de tu aplicación de autenticación.",
        "Si no fuiste tú, pide ahora una contraseña nueva en la página de inicio de sesión y avísanos.",
      ],
    },
    secondFactorOff: {
      subject: "El segundo factor de tu cuenta de {service} está desactivado",
      lines: [
        "Al iniciar sesión en {service} ahora solo se pide la contraseña.",
        "Si no fuiste tú, pide ahora una contraseña nueva en la página de inicio de sesión y avísanos.",
      ],
    },
    roleChanged: {
      subject: "{email} es ahora {role} en {service}",
      lines: [
        "El rol de {email} en tu plataforma es ahora: {role}. Un propietario puede hacerlo todo. Un miembro no puede cambiar usuarios, claves, límites ni avisos.",
        "Si ningún propietario de tu plataforma lo hizo, avísanos.",
      ],
    },
    ownerRemoved: {
      subject: "{email} ya no es propietario en {service}",
      lines: [
        "{email} era propietario de tu plataforma y fue eliminado. Con esta dirección ya no se puede iniciar sesión.",
        "Si nadie de tu plataforma lo hizo, avísanos.",
      ],
    },
    adminKeyMade: {
      subject: "Se creó una clave app_admin en {service}",
      lines: [
        "Se creó la clave {key} para la aplicación {application}. Puede hacerlo todo en esta aplicación.",
        "Si nadie de tu plataforma la creó, revócala ahora.",
      ],
    },
    connectionNeedsReauth: {
      subject: "Hay cuentas vinculadas que necesitan a sus dueños",
      lines: [
        "Las redes ya no aceptan la autorización de estas cuentas. No se publica nada en ellas hasta que sus dueños las vinculen de nuevo.",
        "Envía a cada dueño un enlace nuevo a la página de vinculación.",
      ],
      item: "{at}: {network}, perfil {profile}, conexión {connection}",
    },
    endpointDisabled: {
      subject: "Se desactivaron endpoints de webhook",
      lines: [
        "{service} ya no envía nada a estos endpoints de webhook.",
        "Arregla el receptor y vuelve a activar el endpoint. La lista de eventos tiene lo que se perdió.",
      ],
      item: "{at}: endpoint {endpoint}, aplicación {application}: {reason}",
    },
    balanceLow: {
      subject: "Tu saldo en {service} es bajo",
      lines: [
        "Los tokens disponibles para tu plataforma bajaron de {low}. Cuando no quede ninguno, las publicaciones se rechazan.",
        "Compra tokens a tiempo.",
      ],
      item: "{at}: {available} tokens disponibles",
    },
    outcomeUnknown: {
      subject: "Hay publicaciones con resultado desconocido",
      lines: [
        "Las redes no dijeron si publicaron estas publicaciones. Cuentan como fallidas y no se envían de nuevo, para que ninguna aparezca dos veces.",
        "Revisa la cuenta. Reintenta una publicación solo si no está allí.",
      ],
      item: "{at}: {network}, publicación {post}, perfil {profile}",
    },
    email: {
      subject: "Confirma tu nueva dirección de correo para {service}",
      lines: [
        "Pediste iniciar sesión en {service} con esta dirección. Abre el enlace e introduce tu contraseña. El enlace vale 7 días.",
        "Si no fuiste tú, no lo abras. No pasará nada.",
      ],
      button: "Confirmar dirección",
    },
    emailAsked: {
      subject: "Tu dirección de correo de {service} va a cambiar",
      lines: [
        "Alguien que conoce tu contraseña pidió cambiar la dirección de tu cuenta de {service}. Cambia cuando se abra el enlace enviado a la dirección nueva.",
        "Si no fuiste tú, cambia tu contraseña ahora. Así el enlace deja de valer.",
      ],
    },
    emailChanged: {
      subject: "Se cambió tu dirección de correo de {service}",
      lines: [
        "Tu cuenta de {service} tiene ahora otra dirección de correo. Con esta ya no se inicia sesión.",
        "Si no fuiste tú, avísanos.",
      ],
    },
    operatorReset: {
      subject: "Un operador creó un enlace para {email}",
      lines: [
        "Un operador de {service} creó un enlace que establece una contraseña nueva para {email}. Vale una vez, durante 60 minutos.",
        "Si nadie lo pidió, avísanos.",
      ],
    },
    platformClosed: {
      subject: "Tu plataforma en {service} se ha cerrado",
      lines: [
        "Una persona propietaria ha cerrado tu plataforma. Las claves de API, las sesiones y las cuentas vinculadas han terminado, y las publicaciones programadas se han cancelado. Todo se borrará el {date} UTC, y los tokens sin usar se perderán.",
        "Si fue un error, avísanos antes de esa fecha: podemos volver a abrir la plataforma. Sus claves y cuentas vinculadas no volverán.",
      ],
    },
    platformReopened: {
      subject: "Tu plataforma en {service} está abierta de nuevo",
      lines: [
        "Un operador de {service} ha vuelto a abrir tu plataforma. Inicia sesión como antes. Las claves de API y las cuentas vinculadas han terminado: crea claves nuevas y haz que se vinculen de nuevo las cuentas. Las publicaciones programadas siguen canceladas.",
        "Si ninguna persona propietaria lo ha pedido, avísanos.",
      ],
    },
    platformEnding: {
      subject: "Tu plataforma en {service} está a punto de borrarse",
      lines: [
        "Tu plataforma está cerrada. Todo se borrará el {date} UTC, y los tokens sin usar se perderán. Después no se podrá recuperar nada.",
        "Si quieres conservarla, avísanos antes de esa fecha.",
      ],
    },
    invitation: {
      subject: "Invitación a {service}",
      lines: [
        "Te invitan a unirte a {platform} en {service}. Abre el enlace y elige una contraseña. Vale una vez, durante 7 días.",
        "Si no quieres unirte, ignora este correo. No pasará nada.",
      ],
      button: "Aceptar invitación",
    },
  },
  quote: "«{text}»",
  aTeam: "un equipo",
  values: {
    owner: "propietario",
    member: "miembro",
    gone: "su receptor respondió 410 Gone",
    abandoned: "no se pudo entregar nada durante 5 días",
    unknown: "desconocida",
  },
  more: "Y {count} más.",
  footer: {
    sentBy: "Enviado por {service}. Este correo es automático. Nadie lee las respuestas.",
    support: "Ayuda: {url}",
    off: "Desactivar estos correos para tu plataforma",
  },
};
