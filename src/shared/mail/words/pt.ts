import type { MailWords } from "./en.ts";

export const pt: MailWords = {
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
    newLogIn: {
      subject: "Novo início de sessão em {service}",
      lines: [
        "Alguém iniciou sessão na sua conta em {service} com a sua palavra-passe, a partir de um dispositivo e de uma rede que não tinham sido usados antes. Hora: {time}. Endereço: {address}.",
        "Se foi você, não precisa de fazer nada. Se não foi, peça já uma nova palavra-passe na página de início de sessão. Isso termina todas as sessões.",
      ],
    },
    wrongCodes: {
      subject: "Códigos errados no seu início de sessão em {service}",
      lines: [
        "Alguém introduziu a sua palavra-passe e depois cinco códigos errados do seu segundo fator. Nenhum desses códigos deu acesso.",
        "Se não foi você, alguém conhece a sua palavra-passe. Altere-a já.",
      ],
    },
    secondFactorOn: {
      subject: "O segundo fator da sua conta em {service} está ligado",
      lines: [
        "O início de sessão em {service} agora também pede um código da sua aplicação de autenticação.",
        "Se não foi você, peça já uma nova palavra-passe na página de início de sessão e avise-nos.",
      ],
    },
    secondFactorOff: {
      subject: "O segundo fator da sua conta em {service} está desligado",
      lines: [
        "O início de sessão em {service} agora só pede a palavra-passe.",
        "Se não foi você, peça já uma nova palavra-passe na página de início de sessão e avise-nos.",
      ],
    },
    roleChanged: {
      subject: "{email} é agora {role} em {service}",
      lines: [
        "A função de {email} na sua plataforma é agora: {role}. Um proprietário pode fazer tudo. Um membro não pode alterar utilizadores, chaves, limites nem avisos.",
        "Se nenhum proprietário da sua plataforma fez isto, avise-nos.",
      ],
    },
    ownerRemoved: {
      subject: "{email} já não é proprietário em {service}",
      lines: [
        "{email} era proprietário da sua plataforma e foi removido. Este endereço já não inicia sessão.",
        "Se ninguém da sua plataforma fez isto, avise-nos.",
      ],
    },
    adminKeyMade: {
      subject: "Foi criada uma chave app_admin em {service}",
      lines: [
        "A chave {key} foi criada para a aplicação {application}. Pode fazer tudo nesta aplicação.",
        "Se ninguém da sua plataforma a criou, revogue-a já.",
      ],
    },
    connectionNeedsReauth: {
      subject: "Há contas ligadas que precisam dos seus donos",
      lines: [
        "As redes já não aceitam a autorização destas contas. Nada é publicado nelas até que os donos as liguem de novo.",
        "Envie a cada dono uma nova ligação para a página de ligação de contas.",
      ],
      item: "{at}: {network}, perfil {profile}, ligação {connection}",
    },
    endpointDisabled: {
      subject: "Foram desativados endpoints de webhook",
      lines: [
        "{service} já não envia nada para estes endpoints de webhook.",
        "Repare o recetor e volte a ativar o endpoint. A lista de eventos tem o que se perdeu.",
      ],
      item: "{at}: endpoint {endpoint}, aplicação {application}: {reason}",
    },
    balanceLow: {
      subject: "O seu saldo em {service} está baixo",
      lines: [
        "Os tokens disponíveis para a sua plataforma desceram abaixo de {low}. Quando não restar nenhum, as publicações são recusadas.",
        "Compre tokens a tempo.",
      ],
      item: "{at}: {available} tokens disponíveis",
    },
    outcomeUnknown: {
      subject: "Há publicações com resultado desconhecido",
      lines: [
        "As redes não disseram se publicaram estas publicações. Contam como falhadas e não são enviadas de novo, para que nenhuma apareça duas vezes.",
        "Verifique a conta. Repita uma publicação só se ela não estiver lá.",
      ],
      item: "{at}: {network}, publicação {post}, perfil {profile}",
    },
    email: {
      subject: "Confirme o seu novo endereço de e-mail para {service}",
      lines: [
        "Pediu para iniciar sessão em {service} com este endereço. Abra o link e introduza a sua palavra-passe. O link é válido por 7 dias.",
        "Se não foi você, não o abra. Nada acontece.",
      ],
      button: "Confirmar endereço",
    },
    emailAsked: {
      subject: "O seu endereço de e-mail de {service} vai mudar",
      lines: [
        "Alguém que conhece a sua palavra-passe pediu para mudar o endereço da sua conta em {service}. Muda quando o link enviado para o novo endereço for aberto.",
        "Se não foi você, mude já a sua palavra-passe. Isso invalida o link.",
      ],
    },
    emailChanged: {
      subject: "O seu endereço de e-mail de {service} foi alterado",
      lines: [
        "A sua conta em {service} tem agora outro endereço de e-mail. Este já não inicia sessão.",
        "Se não foi você, avise-nos.",
      ],
    },
    operatorReset: {
      subject: "Um operador criou um link para {email}",
      lines: [
        "Um operador de {service} criou um link que define uma nova palavra-passe para {email}. Funciona uma vez, durante 60 minutos.",
        "Se ninguém o pediu, avise-nos.",
      ],
    },
    platformClosed: {
      subject: "A sua plataforma em {service} foi fechada",
      lines: [
        "Uma pessoa proprietária fechou a sua plataforma. As chaves de API, as sessões e as contas ligadas terminaram, e as publicações agendadas foram canceladas. Tudo será apagado em {date} UTC, e os tokens não utilizados serão perdidos.",
        "Se foi um engano, avise-nos antes dessa data: podemos voltar a abrir a plataforma. As chaves e as contas ligadas não voltam.",
      ],
    },
    platformReopened: {
      subject: "A sua plataforma em {service} está aberta de novo",
      lines: [
        "Um operador de {service} voltou a abrir a sua plataforma. Inicie sessão como antes. As chaves de API e as contas ligadas terminaram: crie chaves novas e peça que as contas sejam ligadas de novo. As publicações agendadas continuam canceladas.",
        "Se nenhuma pessoa proprietária o pediu, avise-nos.",
      ],
    },
    platformEnding: {
      subject: "A sua plataforma em {service} está prestes a ser apagada",
      lines: [
        "A sua plataforma está fechada. Tudo será apagado em {date} UTC, e os tokens não utilizados serão perdidos. Depois disso nada pode ser recuperado.",
        "Se quiser mantê-la, avise-nos antes dessa data.",
      ],
    },
    invitation: {
      subject: "Convite para {service}",
      lines: [
        "Recebeu um convite para se juntar a {platform} em {service}. Abra o link e escolha uma palavra-passe. Funciona uma vez, durante 7 dias.",
        "Se não quiser juntar-se, ignore este e-mail. Nada acontece.",
      ],
      button: "Aceitar convite",
    },
  },
  quote: "«{text}»",
  aTeam: "uma equipa",
  values: {
    owner: "proprietário",
    member: "membro",
    gone: "o seu recetor respondeu 410 Gone",
    abandoned: "nada pôde ser entregue durante 5 dias",
    unknown: "desconhecido",
  },
  more: "E mais {count}.",
  footer: {
    sentBy: "Enviado por {service}. Este e-mail é automático. Ninguém lê as respostas.",
    support: "Ajuda: {url}",
    off: "Desligar estes e-mails para a sua plataforma",
  },
};
