import type { Words } from "./en.ts";

export const pt: Words = {
  skip: "Ir para o conteúdo",
  logo: "Logotipo",
  problem: {
    title: "Erro: {title}",
    general: "Não funcionou",
    at: "{network} não foi conectado",
    goTo: "Ir para {network}",
  },
  page: {
    title: "Conecte suas contas",
    lead: "Escolha as contas em que se pode publicar.",
    leadFor: "Escolha as contas em que {brand} pode publicar.",
    note: "Nada é publicado a partir desta página.",
    progress: "{linked} de {total} conectadas",
    linked: "{network} está conectado.",
    done: "Concluir",
    doneHint: "Conecte mais contas ou toque em “Concluir” para terminar.",
    cancel: "Cancelar",
    back: "Voltar",
    backTo: "Voltar para {brand}",
  },
  steps: {
    label: "Etapas",
    network: "Escolher uma rede",
    allow: "Permitir o acesso",
    done: "Concluído",
  },
  card: {
    linked: "Conectada",
    linkedAs: "Conectada como {name}",
    unlinked: "Não conectada",
    attention: "Precisa ser reconectada",
    again: "{name} precisa ser conectada de novo. As publicações em espera sairão depois disso.",
    unavailable: "Indisponível no momento.",
    leaves: "Você entra no {network} e volta para cá.",
    connect: "Conectar {network}",
    continueAt: "Continuar no {network}",
    reconnect: "Conectar {network} de novo",
    another: "Conectar outra conta no lugar desta",
    otherWay: "Conectar de outra forma",
  },
  about: {
    facebook: "Para páginas do Facebook que você administra.",
    instagram: "Para contas profissionais: de empresa ou de criador.",
  },
  otherWays: {
    bluesky: "Usar uma senha de aplicativo",
  },
  choice: {
    title: "Escolha uma conta",
    lead: "No {network} você pode publicar por várias.",
    legend: "Qual deve ser conectada?",
    cut: "Há mais do que as mostradas aqui. Se a sua não aparece, comece de novo e selecione só ela no {network}.",
    submit: "Conectar esta",
    back: "Voltar para todas as redes",
  },
  notices: {
    unknown: {
      title: "Este link não funciona",
      text: "Ele pode estar incompleto ou vencido. Volte ao serviço que enviou você para cá e comece de novo.",
    },
    completed: {
      title: "Você já terminou aqui",
      text: "Esta página já foi usada e suas contas estão conectadas. Para conectar outras, comece de novo de onde você veio.",
    },
    canceled: {
      title: "Isto foi cancelado",
      text: "Nada mais pode ser conectado nesta página. Para continuar, comece de novo de onde você veio.",
    },
    ended: {
      title: "Este link não é mais válido",
      text: "O serviço que enviou você para cá o retirou, e nada mais pode ser conectado nesta página. As contas conectadas continuam conectadas; para outras, comece de novo de onde você veio.",
    },
    expired: {
      title: "Esta página expirou",
      text: "Ela ficou aberta por tempo demais. As contas conectadas continuam conectadas; para outras, comece de novo de onde você veio.",
    },
    open: {
      title: "Isto não é possível agora",
      text: "No momento não é possível conectar contas para você. Pergunte ao serviço que enviou você para cá.",
    },
    allSet: {
      title: "Tudo pronto",
      text: "Suas contas estão conectadas. Você pode fechar esta janela.",
    },
    nothing: {
      title: "Nada foi conectado",
      text: "Você saiu sem conectar nenhuma conta. Você pode fechar esta janela.",
    },
    foreign: {
      title: "Isto não veio da nossa página",
      text: "Para sua segurança, nada foi feito. Abra de novo o link que você recebeu e continue a partir dali.",
    },
    unreadable: {
      title: "Não foi possível ler o formulário",
      text: "Ele tinha mais do que esta página aceita ou chegou danificado; nada foi feito. Abra de novo o link que você recebeu e continue a partir dali.",
    },
    deletionReceived: {
      title: "Recebemos o seu pedido",
      text: "As suas contas estão a ser desligadas e os respetivos dados de acesso eliminados.",
    },
    deletionDone: {
      title: "As suas contas foram desligadas",
      text: "Os respetivos dados de acesso foram eliminados.",
    },
    usedStep: {
      title: "Esta etapa já passou",
      text: "Ela já foi usada ou demorou demais. Abra de novo o link que você recebeu para ver o que está conectado e continue a partir dali.",
    },
    otherBrowser: {
      title: "Fique em um só navegador",
      text: "Isto foi iniciado em outro navegador, ou este não guarda cookies. Para sua segurança, nada foi conectado. Abra o link que você recebeu em um só navegador e siga todas as etapas nele.",
    },
    outage: {
      title: "Tente de novo",
      text: "Não conseguimos fazer isto agora. Recarregue a página em um minuto; nada se perdeu.",
    },
    failure: {
      title: "Algo deu errado",
      text: "A culpa é nossa e o erro foi registrado ({id}). Abra de novo o link que você recebeu para ver o que está conectado.",
    },
  },
  problems: {
    wrong_credentials:
      "{network} não aceitou este nome e esta senha. Verifique se há erros de digitação e tente de novo.",
    app_password_needed:
      "Aqui é preciso uma senha de aplicativo, não a senha com que você entra. Crie uma nas configurações do {network} e digite-a aqui.",
    account_moved:
      "Esta conta mudou para outro servidor. Digite aqui o nome de usuário, não o e-mail.",
    account_not_found:
      "{network} não conhece esta conta. Verifique como está escrita, também a parte depois do último ponto.",
    account_restricted:
      "{network} restringiu esta conta. Entre no {network}, faça o que for pedido e depois volte e tente de novo.",
    instance_unreachable:
      "Não foi possível alcançar este servidor. Verifique o endereço; se estiver certo, tente de novo em alguns minutos.",
    instance_unsupported:
      "Este servidor não responde como os servidores do {network}. Verifique o endereço ou use uma conta em outro servidor.",
    access_denied:
      "Você não deu permissão no {network}, por isso nada foi conectado. Comece de novo se foi um engano.",
    other_account:
      "Você deu permissão para uma conta diferente da que digitou, por isso nada foi conectado. Entre no {network} com a conta digitada ou digite aqui o outro nome.",
    permission_missing:
      "Uma permissão necessária para publicar não foi dada no {network}. Comece de novo e deixe tudo marcado.",
    rate_limited:
      "{network} pede uma pausa depois de tantas tentativas. Espere alguns minutos e tente de novo.",
    network_unavailable:
      "{network} não está respondendo no momento. Nada foi conectado; tente de novo em alguns minutos.",
    account_kind_unsupported:
      "{network} não deixa outros serviços publicarem por uma conta deste tipo. Torne-a profissional nas configurações dela no {network}, depois volte e tente de novo.",
    nothing_to_choose:
      "{network} não nos mostrou nenhuma página pela qual você possa publicar. Comece de novo e deixe todas as páginas marcadas; se não tiver nenhuma, crie uma ou peça ao dono que deixe você criar conteúdo.",
    input_invalid:
      "Falta algo ou não está escrito como esperado. Verifique os campos e tente de novo.",
    unpaid:
      "No momento não é possível conectar contas. Nada foi alterado; avise o serviço que enviou você para cá.",
    too_many_attempts:
      "Houve tentativas demais nesta página. Volte ao serviço que enviou você para cá e comece de novo.",
    not_available: "{network} não pode ser conectado no momento.",
    nothing_linked: "Nenhuma conta está conectada ainda. Conecte primeiro pelo menos uma.",
    nothing_chosen: "Escolha primeiro uma destas.",
    step_over: "A visita ao {network} demorou demais ou já foi usada. Comece-a de novo.",
  },
  fields: {
    "linkedin.kind": {
      label: "Publicar como",
      hint: "Uma página de empresa pode ser escolhida por quem a administra",
      choices: { member: "Eu mesmo", organization: "Uma página de empresa" },
    },
    "bluesky.identifier": {
      label: "Identificador (opcional)",
      hint: "Por exemplo alice.bsky.social, ou o endereço do seu próprio servidor. Deixe vazio para entrar em bsky.social",
    },
    "bluesky.alternative.identifier": {
      label: "Identificador ou e-mail",
      hint: "Com que você entra no Bluesky, por exemplo alice.bsky.social",
    },
    "bluesky.alternative.appPassword": {
      label: "Senha de aplicativo",
      hint: "Não é a sua própria senha: crie uma no Bluesky em Configurações, Privacidade e segurança, Senhas de aplicativo",
    },
    "bluesky.alternative.server": {
      label: "Endereço do servidor (opcional)",
      hint: "Só se a sua conta estiver em um servidor próprio que não é encontrado pelo identificador",
    },
    "mastodon.instance": {
      label: "Seu servidor",
      hint: "O endereço do seu servidor Mastodon ou o seu nome completo, como @alice@mastodon.social",
    },
  },
};
