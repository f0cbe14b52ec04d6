import type { Words } from "./en.ts";

export const pt: Words = {
  skip: "Ir para o conteúdo",
  logo: "Logotipo",
  problem: {
    title: "Erro: {title}",
    general: "Não funcionou",
    at: "{network} não foi conectado",
    kept: "Sua conexão com o {network} não foi alterada",
  },
  page: {
    title: "Conecte suas contas",
    lead: "Escolha as contas em que será possível publicar.",
    leadFor: "Escolha as contas em que {brand} poderá publicar.",
    note: "Nada é publicado a partir desta página.",
    progress: "{linked} de {total} conectadas",
    linked: "{network} está conectado.",
    done: "Concluir",
    doneHint: "Você pode conectar mais contas ou terminar aqui.",
    cancel: "Cancelar",
    back: "Voltar",
    backTo: "Voltar para {brand}",
    later: "Você pode fechar esta janela. O link funciona até expirar.",
    goOn: "Continuar conectando",
    accounts: "Contas conectadas",
  },
  footer: {
    privacy: "Privacidade",
    terms: "Termos de uso",
    support: "Ajuda",
    newTab: "(abre em outra aba)",
  },
  steps: {
    label: "Etapas",
    network: "Escolher uma rede",
    allow: "Permitir o acesso",
    done: "Concluído",
  },
  card: {
    linkedAs: "Conectada como {name}",
    unlinked: "Não conectada",
    attention: "Precisa ser reconectada",
    again: "Conecte {name} de novo. As publicações em espera serão publicadas em seguida.",
    unavailable: "Indisponível no momento.",
    leaves: "Você entra no {network} e volta para cá.",
    connect: "Conectar {network}",
    continueAt: "Continuar no {network}",
    reconnect: "Conectar {network} de novo",
    partly: "Falta uma permissão",
    lacks:
      "Nem todas as permissões foram concedidas no {network}, por isso faltam alguns recursos. Conecte a conta de novo e permita todas.",
    another: "Se você conectar outra conta, ela substituirá esta.",
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
    lead: "Seu login no {network} dá acesso a várias contas.",
    legend: "Qual conta você quer conectar?",
    cut: "Nem todas as suas contas cabem nesta página. Se a sua não aparece, comece de novo e selecione só ela no {network}.",
    submit: "Conectar esta conta",
    back: "Voltar para todas as redes",
  },
  notices: {
    unknown: {
      title: "Este link não funciona",
      text: "Ele pode estar incompleto ou ter expirado. Volte ao serviço que enviou você para cá e comece de novo.",
    },
    completed: {
      title: "Você já terminou",
      text: "Suas contas estão conectadas e este link já foi usado. Para conectar outras, volte ao serviço que enviou você para cá e comece de novo.",
    },
    canceled: {
      title: "A conexão foi cancelada",
      text: "Nada mais pode ser conectado nesta página. Para continuar, volte ao serviço que enviou você para cá e comece de novo.",
    },
    ended: {
      title: "Este link não é mais válido",
      text: "O serviço que enviou você para cá o desativou, e nada mais pode ser conectado nesta página. As contas conectadas continuam conectadas. Para conectar outras, comece de novo nesse serviço.",
    },
    expired: {
      title: "Esta página expirou",
      text: "Ela ficou aberta por tempo demais. As contas conectadas continuam conectadas. Para conectar outras, volte ao serviço que enviou você para cá e comece de novo.",
    },
    open: {
      title: "Isto não é possível agora",
      text: "No momento não é possível conectar suas contas. Fale com o serviço que enviou você para cá.",
    },
    allSet: {
      title: "Tudo pronto",
      text: "Suas contas estão conectadas. Você pode fechar esta janela.",
    },
    paused: {
      title: "Nada foi conectado ainda",
      text: "Você pode fechar esta janela. Para conectar uma conta mais tarde, abra o seu link de novo.",
    },
    foreign: {
      title: "Esta solicitação não veio da nossa página",
      text: "Para sua segurança, nada foi feito. Abra o seu link de novo e continue a partir dele.",
    },
    unreadable: {
      title: "Não foi possível ler o formulário",
      text: "Ele era grande demais ou chegou danificado; nada foi feito. Abra o seu link de novo e continue a partir dele.",
    },
    deletionReceived: {
      title: "Recebemos sua solicitação",
      text: "Suas contas estão sendo desconectadas, e os dados de acesso, excluídos.",
    },
    deletionDone: {
      title: "Suas contas foram desconectadas",
      text: "Os dados de acesso foram excluídos.",
    },
    usedStep: {
      title: "Esta etapa não é mais válida",
      text: "Ela já foi usada ou demorou demais. Abra o seu link de novo para ver o que está conectado e continue a partir dele.",
    },
    otherBrowser: {
      title: "Use um só navegador",
      text: "Você começou em outro navegador, ou este não guarda cookies. Para sua segurança, nada foi conectado. Abra o seu link em um só navegador e conclua nele todas as etapas.",
    },
    outage: {
      title: "Tente de novo",
      text: "Não conseguimos fazer isto agora. Recarregue a página em um minuto; nada se perdeu.",
    },
    failure: {
      title: "Algo deu errado",
      text: "O erro é do nosso lado e foi registrado ({id}). Abra o seu link de novo para ver o que está conectado.",
    },
  },
  problems: {
    wrong_credentials:
      "{network} não aceitou esta senha de aplicativo para esta conta. Verifique se há erros de digitação ou crie uma nova.",
    app_password_needed:
      "Esta não é uma senha de aplicativo. Crie uma nas configurações do {network} e digite-a aqui.",
    account_moved:
      "Esta conta mudou para outro servidor. Digite o identificador dela em vez do e-mail.",
    account_not_found:
      "{network} não reconhece esta conta. Verifique se está escrita corretamente, inclusive a parte depois do último ponto.",
    account_restricted:
      "{network} restringiu esta conta. Entre no {network}, siga as instruções e depois volte e tente de novo.",
    instance_unreachable:
      "Não foi possível acessar este servidor. Verifique o endereço. Se estiver certo, tente de novo em alguns minutos.",
    instance_protected:
      "A proteção deste servidor recusa outros serviços. Tente de novo mais tarde ou peça ao administrador do servidor que libere a API.",
    instance_unsupported:
      "Este servidor não responde como um servidor do {network}. Verifique o endereço ou pergunte ao administrador do servidor. Uma conta em outro servidor também serve.",
    access_denied: "Você não deu permissão no {network}. Comece de novo se foi um engano.",
    other_account:
      "Você deu permissão para outra conta. Entre no {network} com a conta digitada aqui ou digite aqui a outra.",
    permission_missing:
      "Uma permissão necessária para publicar não foi dada no {network}. Comece de novo e deixe tudo selecionado.",
    rate_limited: "Houve tentativas demais no {network}. Espere alguns minutos e tente de novo.",
    service_limited:
      "O serviço que enviou você para cá não pode conectar mais contas do {network} hoje. A causa não é a sua conta. Tente de novo amanhã.",
    service_refused:
      "{network} não deixa o serviço que enviou você para cá conectar esta conta no momento. Avise esse serviço, por favor.",
    network_unavailable:
      "{network} não está respondendo no momento. Tente de novo em alguns minutos.",
    account_kind_unsupported:
      "{network} não deixa outros serviços publicarem neste tipo de conta. Mude para uma conta profissional nas configurações do {network}, depois volte e tente de novo.",
    nothing_to_choose:
      "{network} não informou nenhuma página em que você possa publicar. Comece de novo e deixe todas as páginas selecionadas. Se não tiver nenhuma, crie uma ou peça ao administrador de uma página que deixe você criar conteúdo.",
    input_invalid:
      "Este dado está faltando ou não está no formato esperado. Verifique e tente de novo.",
    unpaid:
      "No momento não é possível conectar contas. Nada foi alterado. Avise o serviço que enviou você para cá.",
    too_many_attempts:
      "Houve tentativas demais nesta página. Volte ao serviço que enviou você para cá e comece de novo.",
    not_available: "{network} não pode ser conectado no momento.",
    nothing_linked: "Nenhuma conta está conectada ainda. Conecte primeiro pelo menos uma.",
    nothing_chosen: "Escolha primeiro uma conta.",
    step_over: "Esta etapa no {network} demorou demais ou já foi usada. Comece de novo.",
  },
  fields: {
    "linkedin.kind": {
      label: "Publicar como",
      hint: "Escolha uma página de empresa só se você a administra",
      choices: { member: "Eu", organization: "Uma página de empresa" },
    },
    "bluesky.identifier": {
      label: "Identificador (opcional)",
      hint: "Por exemplo alice.bsky.social, ou o endereço do seu próprio servidor. Deixe vazio para entrar em bsky.social",
    },
    "bluesky.alternative.identifier": {
      label: "Identificador ou e-mail",
      hint: "O que você usa para entrar no Bluesky, por exemplo alice.bsky.social",
    },
    "bluesky.alternative.appPassword": {
      label: "Senha de aplicativo",
      hint: "Não é a senha com que você entra. Crie uma no Bluesky: Configurações > Privacidade e segurança > Senhas de aplicativo",
    },
    "bluesky.alternative.server": {
      label: "Endereço do servidor (opcional)",
      hint: "Só se a sua conta estiver em um servidor próprio que não é encontrado pelo identificador",
    },
    "mastodon.instance": {
      label: "Seu servidor",
      hint: "O endereço do seu servidor Mastodon ou o seu identificador completo, como @alice@mastodon.social",
    },
  },
};
