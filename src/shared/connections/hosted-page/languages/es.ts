import type { Words } from "./en.ts";

export const es: Words = {
  skip: "Ir al contenido",
  logo: "Logotipo",
  problem: {
    title: "Error en la página: {title}",
    general: "No ha funcionado",
    at: "{network} no se ha conectado",
    goTo: "Ir a {network}",
  },
  page: {
    title: "Conecta tus cuentas",
    lead: "Elige las cuentas en las que se puede publicar.",
    leadFor: "Elige las cuentas en las que {brand} puede publicar.",
    note: "Desde esta página no se publica nada.",
    progress: "{linked} de {total} conectadas",
    linked: "{network} está conectado.",
    done: "Listo",
    doneHint: "Conecta más cuentas o pulsa «Listo» para terminar.",
    cancel: "Cancelar",
    back: "Volver",
    backTo: "Volver a {brand}",
  },
  steps: {
    label: "Pasos",
    network: "Elegir una red",
    allow: "Permitir el acceso",
    done: "Listo",
  },
  card: {
    linked: "Conectada",
    linkedAs: "Conectada como {name}",
    unlinked: "Sin conectar",
    attention: "Hay que reconectarla",
    again: "Hay que volver a conectar {name}. Las publicaciones en espera saldrán después.",
    unavailable: "No disponible por ahora.",
    leaves: "Inicias sesión en {network} y vuelves aquí.",
    connect: "Conectar {network}",
    continueAt: "Continuar en {network}",
    reconnect: "Volver a conectar {network}",
    another: "Conectar otra cuenta en su lugar",
    otherWay: "Conectar de otra manera",
  },
  about: {
    facebook: "Para páginas de Facebook que administras.",
    instagram: "Para cuentas profesionales: de empresa o de creador.",
  },
  otherWays: {
    bluesky: "Usar una contraseña de aplicación en su lugar",
  },
  choice: {
    title: "Elige una cuenta",
    lead: "En {network} puedes publicar para varias.",
    legend: "¿Cuál quieres conectar?",
    cut: "Hay más de las que se muestran aquí. Si falta la tuya, empieza de nuevo y selecciona solo esa en {network}.",
    submit: "Conectar esta",
    back: "Volver a todas las redes",
  },
  notices: {
    unknown: {
      title: "Este enlace no funciona",
      text: "Puede estar incompleto o haber caducado. Vuelve al servicio que te envió aquí y empieza de nuevo.",
    },
    completed: {
      title: "Aquí ya has terminado",
      text: "Esta página ya se usó y tus cuentas están conectadas. Para conectar otras, empieza de nuevo donde estabas antes.",
    },
    canceled: {
      title: "Esto se canceló",
      text: "En esta página ya no se puede conectar nada. Para seguir, empieza de nuevo donde estabas antes.",
    },
    ended: {
      title: "Este enlace ya no es válido",
      text: "El servicio que te envió aquí lo ha retirado, y en esta página ya no se puede conectar nada. Las cuentas conectadas siguen conectadas; para otras, empieza de nuevo donde estabas antes.",
    },
    expired: {
      title: "Esta página ha caducado",
      text: "Estuvo abierta demasiado tiempo. Las cuentas conectadas siguen conectadas; para otras, empieza de nuevo donde estabas antes.",
    },
    open: {
      title: "Ahora no es posible",
      text: "En este momento no se pueden conectar cuentas para ti. Pregunta al servicio que te envió aquí.",
    },
    allSet: {
      title: "Todo listo",
      text: "Tus cuentas están conectadas. Puedes cerrar esta ventana.",
    },
    nothing: {
      title: "No se ha conectado nada",
      text: "Has salido sin conectar ninguna cuenta. Puedes cerrar esta ventana.",
    },
    foreign: {
      title: "Esto no venía de nuestra página",
      text: "Por tu seguridad no se ha hecho nada. Abre otra vez el enlace que recibiste y sigue desde ahí.",
    },
    unreadable: {
      title: "No se pudo leer el formulario",
      text: "Contenía más de lo que admite esta página o llegó dañado; no se ha hecho nada. Abre otra vez el enlace que recibiste y sigue desde ahí.",
    },
    deletionReceived: {
      title: "Hemos recibido su solicitud",
      text: "Sus cuentas se están desconectando y sus datos de acceso se están eliminando.",
    },
    deletionDone: {
      title: "Sus cuentas están desconectadas",
      text: "Sus datos de acceso se han eliminado.",
    },
    usedStep: {
      title: "Este paso ya pasó",
      text: "Ya se usó o tardó demasiado. Abre otra vez el enlace que recibiste para ver qué está conectado y sigue desde ahí.",
    },
    otherBrowser: {
      title: "Quédate en un solo navegador",
      text: "Esto se empezó en otro navegador, o este no guarda cookies. Por tu seguridad no se ha conectado nada. Abre el enlace que recibiste en un solo navegador y da ahí todos los pasos.",
    },
    outage: {
      title: "Inténtalo de nuevo",
      text: "No hemos podido hacerlo ahora. Recarga la página dentro de un minuto; no se ha perdido nada.",
    },
    failure: {
      title: "Algo ha salido mal",
      text: "Es culpa nuestra y ha quedado registrado ({id}). Abre otra vez el enlace que recibiste para ver qué está conectado.",
    },
  },
  problems: {
    wrong_credentials:
      "{network} no ha aceptado este nombre y esta contraseña. Comprueba que no haya errores al escribirlos e inténtalo de nuevo.",
    app_password_needed:
      "Tiene que ser una contraseña de aplicación, no la contraseña con la que inicias sesión. Crea una en los ajustes de {network} e introdúcela aquí.",
    account_moved:
      "Esta cuenta se ha mudado a otro servidor. Escribe aquí su nombre de usuario, no el correo electrónico.",
    account_not_found:
      "{network} no conoce esta cuenta. Comprueba cómo está escrita, también la parte después del último punto.",
    account_restricted:
      "{network} ha restringido esta cuenta. Inicia sesión en {network}, haz lo que te pida y después vuelve a intentarlo aquí.",
    instance_unreachable:
      "No se ha podido llegar a este servidor. Comprueba la dirección; si es correcta, inténtalo de nuevo en unos minutos.",
    instance_unsupported:
      "Este servidor no responde como lo hacen los servidores de {network}. Comprueba la dirección o usa una cuenta de otro servidor.",
    access_denied:
      "No has dado permiso en {network}, así que no se ha conectado nada. Empieza de nuevo si fue un error.",
    other_account:
      "Has dado permiso para una cuenta distinta de la que escribiste, así que no se ha conectado nada. Inicia sesión en {network} con la que escribiste o escribe aquí el otro nombre.",
    permission_missing:
      "En {network} no se ha dado un permiso necesario para publicar. Empieza de nuevo y deja todo marcado.",
    rate_limited:
      "{network} pide una pausa después de tantos intentos. Espera unos minutos e inténtalo de nuevo.",
    network_unavailable:
      "{network} no responde en este momento. No se ha conectado nada; inténtalo de nuevo en unos minutos.",
    account_kind_unsupported:
      "{network} no permite que otros servicios publiquen para una cuenta de este tipo. Conviértela en profesional en sus ajustes en {network} y después vuelve a intentarlo aquí.",
    nothing_to_choose:
      "{network} no nos ha mostrado ninguna página para la que puedas publicar. Empieza de nuevo y deja marcadas todas las páginas; si no tienes ninguna, crea una o pide a su propietario que te deje crear contenido.",
    input_invalid:
      "Falta algo o no está escrito como se esperaba. Comprueba los campos e inténtalo de nuevo.",
    unpaid:
      "Ahora mismo no se pueden conectar cuentas. No se ha cambiado nada; avisa al servicio que te envió aquí.",
    too_many_attempts:
      "Ha habido demasiados intentos en esta página. Vuelve al servicio que te envió aquí y empieza de nuevo.",
    not_available: "{network} no se puede conectar en este momento.",
    nothing_linked: "Todavía no hay ninguna cuenta conectada. Conecta primero al menos una.",
    nothing_chosen: "Elige primero una de estas.",
    step_over: "La visita a {network} tardó demasiado o ya se usó. Empiézala de nuevo.",
  },
  fields: {
    "linkedin.kind": {
      label: "Publicar como",
      hint: "Una página de empresa la puede elegir quien la administra",
      choices: { member: "Yo", organization: "Una página de empresa" },
    },
    "bluesky.identifier": {
      label: "Identificador (opcional)",
      hint: "Por ejemplo alice.bsky.social, o la dirección de tu propio servidor. Déjalo vacío para iniciar sesión en bsky.social",
    },
    "bluesky.alternative.identifier": {
      label: "Identificador o correo electrónico",
      hint: "Con el que inicias sesión en Bluesky, por ejemplo alice.bsky.social",
    },
    "bluesky.alternative.appPassword": {
      label: "Contraseña de aplicación",
      hint: "No es tu propia contraseña: crea una en Bluesky en Ajustes, Privacidad y seguridad, Contraseñas de aplicación",
    },
    "bluesky.alternative.server": {
      label: "Dirección del servidor (opcional)",
      hint: "Solo si tu cuenta está en un servidor propio que no se encuentra por el identificador",
    },
    "mastodon.instance": {
      label: "Tu servidor",
      hint: "La dirección de tu servidor de Mastodon o tu nombre completo, como @alice@mastodon.social",
    },
  },
};
