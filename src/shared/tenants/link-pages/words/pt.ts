import type { PageWords } from "./en.ts";

export const pt: PageWords = {
  kinds: {
    verify: {
      title: "Confirme o seu endereço de e-mail",
      intro: "Introduza a palavra-passe com que se registou. Ela mostra que o pedido é seu.",
      label: "Palavra-passe",
      hint: "",
      button: "Confirmar endereço",
      doneTitle: "Endereço confirmado",
      done: "Pode fechar esta janela.",
    },
    reset: {
      title: "Escolha uma nova palavra-passe",
      intro: "Ao guardá-la, todas as suas sessões terminam.",
      label: "Nova palavra-passe",
      hint: "De 12 a 128 caracteres. Nem uma palavra-passe comum, nem feita do seu endereço de e-mail ou do nome da sua equipa ou deste serviço.",
      button: "Guardar palavra-passe",
      doneTitle: "Palavra-passe guardada",
      done: "Inicie sessão com a nova palavra-passe. Pode fechar esta janela.",
    },
    email: {
      title: "Confirme o seu novo endereço",
      intro: "Introduza a sua palavra-passe. Ela mostra que o pedido é seu.",
      label: "Palavra-passe",
      hint: "",
      button: "Confirmar endereço",
      doneTitle: "Endereço alterado",
      done: "Inicie sessão com o novo endereço a partir de agora. Pode fechar esta janela.",
    },
    invitation: {
      title: "Aceitar o convite",
      intro: "Vai juntar-se a {platform} em {service} e iniciar sessão como {email}.",
      label: "Palavra-passe",
      hint: "De 12 a 128 caracteres. Nem uma palavra-passe comum, nem feita do seu endereço de e-mail ou do nome da sua equipa ou deste serviço.",
      button: "Aceitar convite",
      doneTitle: "Já faz parte",
      done: "Inicie sessão com o seu endereço de e-mail e esta palavra-passe. Pode fechar esta janela.",
    },
  },
  notices: {
    title: "Desligar estes e-mails?",
    intro:
      "Então nenhum proprietário da sua plataforma os recebe. Um proprietário pode ligá-los de novo: PATCH /v1/platform/notices.",
    button: "Desligar",
    doneTitle: "Desligados",
    done: "Os proprietários da sua plataforma já não recebem estes e-mails. Pode fechar esta janela.",
    invalid:
      "O link está danificado ou tem mais de 60 dias, ou já não é proprietário desta plataforma.",
    kinds: {
      connectionNeedsReauth: "E-mails sobre contas que os donos têm de ligar de novo",
      endpointDisabled: "E-mails sobre endpoints de webhook desativados",
      balanceLow: "E-mails sobre um saldo baixo",
      outcomeUnknown: "E-mails sobre publicações com resultado desconhecido",
    },
  },
  invalidTitle: "Este link não funciona",
  invalid:
    "Já foi usado, expirou ou foi substituído por um mais recente. Se acabou de o usar, funcionou: inicie sessão. Caso contrário, peça um novo link.",
  acceptedTitle: "Já faz parte da equipa",
  accepted:
    "Este convite foi aceite. Inicie sessão com o seu endereço de e-mail e a palavra-passe que escolheu. Se já não a sabe, redefina-a onde inicia sessão.",
  email: "Endereço de e-mail",
  wrongPassword: "A palavra-passe não está certa. Tente de novo.",
  badNewPassword: "Escolha uma palavra-passe de 12 a 128 caracteres, difícil de adivinhar.",
  tooManyTitle: "Demasiadas tentativas",
  tooMany: "Espere alguns minutos e abra o link de novo.",
  taken: "Outra pessoa inicia sessão com este endereço.",
  hasAccount:
    "Já existe uma conta com este endereço de e-mail. Peça um convite para outro endereço.",
  suspended: "A conta da sua equipa está suspensa ou fechada. Pergunte a quem o convidou.",
  failedTitle: "Não funcionou",
  failed: "O serviço não consegue responder agora. Abra o link de novo daqui a pouco.",
};
