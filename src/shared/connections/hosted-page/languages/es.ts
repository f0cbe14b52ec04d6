import type { Words } from "./en.ts";

export const es: Words = {
  skip: "Ir al contenido",
  logo: "Logotipo",
  problem: {
    title: "Error en la página: {title}",
    general: "No ha funcionado",
    at: "{network} no se ha conectado",
    kept: "Tu conexión con {network} no ha cambiado",
  },
  page: {
    title: "Conecta tus cuentas",
    lead: "Elige las cuentas en las que se podrá publicar.",
    leadFor: "Elige las cuentas en las que {brand} podrá publicar.",
    note: "Desde esta página no se publica nada.",
    progress: "{linked} de {total} conectadas",
    linked: "{network} está conectado.",
    done: "Listo",
    doneHint: "Puedes conectar más cuentas o terminar aquí.",
    cancel: "Cancelar",
    back: "Volver",
    backTo: "Volver a {brand}",
    later: "Puedes cerrar esta ventana. El enlace funciona hasta que caduque.",
    goOn: "Seguir conectando",
    accounts: "Cuentas conectadas",
  },
  footer: {
    privacy: "Privacidad",
    terms: "Condiciones de uso",
    support: "Ayuda",
    newTab: "(se abre en otra pestaña)",
  },
  steps: {
    label: "Pasos",
    network: "Elegir una red",
    allow: "Permitir el acceso",
    done: "Listo",
  },
  card: {
    linkedAs: "Conectada como {name}",
    unlinked: "Sin conectar",
    attention: "Hay que volver a conectarla",
    again: "Vuelve a conectar {name}. Después se publicarán las publicaciones en espera.",
    unavailable: "No disponible por ahora.",
    leaves: "Inicias sesión en {network} y vuelves aquí.",
    connect: "Conectar {network}",
    continueAt: "Continuar en {network}",
    reconnect: "Volver a conectar {network}",
    partly: "Falta un permiso",
    lacks:
      "No se han concedido todos los permisos de {network}, así que faltan algunas funciones. Vuelve a conectar la cuenta y permítelos todos.",
    another: "Si conectas otra cuenta, sustituirá a esta.",
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
    lead: "Tu inicio de sesión en {network} da acceso a varias cuentas.",
    legend: "¿Qué cuenta quieres conectar?",
    cut: "No todas tus cuentas caben en esta página. Si falta la tuya, empieza de nuevo y selecciona solo esa en {network}.",
    submit: "Conectar esta cuenta",
    back: "Volver a todas las redes",
  },
  notices: {
    unknown: {
      title: "Este enlace no funciona",
      text: "Puede estar incompleto o haber caducado. Vuelve al servicio que te envió aquí y empieza de nuevo.",
    },
    completed: {
      title: "Ya has terminado",
      text: "Tus cuentas están conectadas y este enlace ya se ha usado. Para conectar otras, vuelve al servicio que te envió aquí y empieza de nuevo.",
    },
    canceled: {
      title: "La conexión se canceló",
      text: "En esta página ya no se puede conectar nada. Para seguir, vuelve al servicio que te envió aquí y empieza de nuevo.",
    },
    ended: {
      title: "Este enlace ya no es válido",
      text: "El servicio que te envió aquí lo ha retirado y en esta página ya no se puede conectar nada. Las cuentas conectadas siguen conectadas. Para conectar otras, empieza de nuevo en ese servicio.",
    },
    expired: {
      title: "Esta página ha caducado",
      text: "Estuvo abierta demasiado tiempo. Las cuentas conectadas siguen conectadas. Para conectar otras, vuelve al servicio que te envió aquí y empieza de nuevo.",
    },
    open: {
      title: "Ahora no es posible",
      text: "En este momento no se pueden conectar tus cuentas. Ponte en contacto con el servicio que te envió aquí.",
    },
    allSet: {
      title: "Todo listo",
      text: "Tus cuentas están conectadas. Puedes cerrar esta ventana.",
    },
    paused: {
      title: "Todavía no hay nada conectado",
      text: "Puedes cerrar esta ventana. Para conectar una cuenta más tarde, abre otra vez tu enlace.",
    },
    foreign: {
      title: "Esta solicitud no venía de nuestra página",
      text: "Por tu seguridad, no se ha hecho nada. Abre otra vez tu enlace y continúa desde ahí.",
    },
    unreadable: {
      title: "No se pudo leer el formulario",
      text: "Era demasiado grande o llegó dañado; no se ha hecho nada. Abre otra vez tu enlace y continúa desde ahí.",
    },
    deletionReceived: {
      title: "Hemos recibido tu solicitud",
      text: "Estamos desconectando tus cuentas y eliminando sus datos de acceso.",
    },
    deletionDone: {
      title: "Tus cuentas están desconectadas",
      text: "Sus datos de acceso se han eliminado.",
    },
    usedStep: {
      title: "Este paso ya no es válido",
      text: "Ya se usó o tardó demasiado. Abre otra vez tu enlace para ver qué está conectado y continúa desde ahí.",
    },
    otherBrowser: {
      title: "Usa un solo navegador",
      text: "Empezaste en otro navegador o este no guarda las cookies. Por tu seguridad, no se ha conectado nada. Abre tu enlace en un solo navegador y completa ahí todos los pasos.",
    },
    outage: {
      title: "Inténtalo de nuevo",
      text: "No hemos podido hacerlo ahora. Recarga la página dentro de un minuto; no se ha perdido nada.",
    },
    failure: {
      title: "Algo ha salido mal",
      text: "El error es nuestro y ha quedado registrado ({id}). Abre otra vez tu enlace para ver qué está conectado.",
    },
  },
  problems: {
    wrong_credentials:
      "{network} no ha aceptado esta contraseña de aplicación para esta cuenta. Comprueba que esté bien escrita o crea una nueva.",
    app_password_needed:
      "Esta no es una contraseña de aplicación. Crea una en los ajustes de {network} e introdúcela aquí.",
    account_moved:
      "Esta cuenta se ha mudado a otro servidor. Escribe su identificador en lugar del correo electrónico.",
    account_not_found:
      "{network} no reconoce esta cuenta. Comprueba que esté bien escrita, también la parte después del último punto.",
    account_restricted:
      "{network} ha restringido esta cuenta. Inicia sesión en {network}, sigue las instrucciones y después vuelve a intentarlo aquí.",
    instance_unreachable:
      "No se ha podido acceder a este servidor. Comprueba la dirección. Si es correcta, inténtalo de nuevo en unos minutos.",
    instance_protected:
      "La protección de este servidor rechaza a otros servicios. Inténtalo de nuevo más tarde o pide al administrador del servidor que permita el acceso a su API.",
    instance_unsupported:
      "Este servidor no responde como un servidor de {network}. Comprueba la dirección o pregunta al administrador del servidor. También sirve una cuenta de otro servidor.",
    access_denied: "No has dado permiso en {network}. Empieza de nuevo si fue un error.",
    other_account:
      "Has dado permiso para otra cuenta. Inicia sesión en {network} con la cuenta escrita aquí o escribe aquí la otra.",
    permission_missing:
      "En {network} no se ha dado un permiso necesario para publicar. Empieza de nuevo y deja todo seleccionado.",
    rate_limited:
      "Ha habido demasiados intentos en {network}. Espera unos minutos e inténtalo de nuevo.",
    service_limited:
      "El servicio que te envió aquí no puede conectar hoy más cuentas de {network}. Tu cuenta no es la causa. Inténtalo de nuevo mañana.",
    service_refused:
      "{network} no deja que el servicio que te envió aquí conecte esta cuenta en este momento. Avisa a ese servicio, por favor.",
    network_unavailable:
      "{network} no responde en este momento. Inténtalo de nuevo en unos minutos.",
    account_kind_unsupported:
      "{network} no permite que otros servicios publiquen en este tipo de cuenta. Cámbiala a profesional en los ajustes de {network} y después vuelve a intentarlo aquí.",
    nothing_to_choose:
      "{network} no ha indicado ninguna página en la que puedas publicar. Empieza de nuevo y deja seleccionadas todas las páginas. Si no tienes ninguna, crea una o pide al administrador de una página que te deje crear contenido.",
    input_invalid:
      "Este dato falta o no tiene el formato esperado. Compruébalo e inténtalo de nuevo.",
    unpaid:
      "Ahora mismo no se pueden conectar cuentas. No se ha cambiado nada. Avisa al servicio que te envió aquí.",
    too_many_attempts:
      "Ha habido demasiados intentos en esta página. Vuelve al servicio que te envió aquí y empieza de nuevo.",
    not_available: "{network} no se puede conectar en este momento.",
    nothing_linked: "Todavía no hay ninguna cuenta conectada. Conecta primero al menos una.",
    nothing_chosen: "Elige primero una cuenta.",
    step_over: "Este paso en {network} tardó demasiado o ya se usó. Empieza de nuevo.",
  },
  fields: {
    "linkedin.kind": {
      label: "Publicar como",
      hint: "Elige una página de empresa solo si la administras",
      choices: { member: "Yo", organization: "Una página de empresa" },
    },
    "bluesky.identifier": {
      label: "Identificador (opcional)",
      hint: "Por ejemplo alice.bsky.social, o la dirección de tu propio servidor. Déjalo vacío para iniciar sesión en bsky.social",
    },
    "bluesky.alternative.identifier": {
      label: "Identificador o correo electrónico",
      hint: "El que usas para iniciar sesión en Bluesky, por ejemplo alice.bsky.social",
    },
    "bluesky.alternative.appPassword": {
      label: "Contraseña de aplicación",
      hint: "No es la contraseña con la que inicias sesión. Crea una en Bluesky: Ajustes > Privacidad y seguridad > Contraseñas de aplicación",
    },
    "bluesky.alternative.server": {
      label: "Dirección del servidor (opcional)",
      hint: "Solo si tu cuenta está en un servidor propio que no se encuentra por el identificador",
    },
    "mastodon.instance": {
      label: "Tu servidor",
      hint: "La dirección de tu servidor de Mastodon o tu identificador completo, como @alice@mastodon.social",
    },
  },
};
