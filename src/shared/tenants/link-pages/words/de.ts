import type { PageWords } from "./en.ts";

export const de: PageWords = {
  kinds: {
    verify: {
      title: "E-Mail-Adresse bestätigen",
      intro:
        "Geben Sie das Passwort ein, mit dem Sie sich registriert haben. Es zeigt, dass die Anfrage von Ihnen kommt.",
      label: "Passwort",
      hint: "",
      button: "Adresse bestätigen",
      doneTitle: "Adresse bestätigt",
      done: "Sie können dieses Fenster schließen.",
    },
    reset: {
      title: "Neues Passwort wählen",
      intro: "Wenn Sie es speichern, enden alle Ihre Sitzungen.",
      label: "Neues Passwort",
      hint: "12 bis 128 Zeichen. Kein häufiges Passwort und keines aus Ihrer E-Mail-Adresse oder dem Namen Ihres Teams oder dieses Dienstes.",
      button: "Passwort speichern",
      doneTitle: "Passwort gespeichert",
      done: "Melden Sie sich mit dem neuen Passwort an. Sie können dieses Fenster schließen.",
    },
    email: {
      title: "Neue Adresse bestätigen",
      intro: "Geben Sie Ihr Passwort ein. Es zeigt, dass die Anfrage von Ihnen kommt.",
      label: "Passwort",
      hint: "",
      button: "Adresse bestätigen",
      doneTitle: "Adresse geändert",
      done: "Melden Sie sich ab jetzt mit der neuen Adresse an. Sie können dieses Fenster schließen.",
    },
    invitation: {
      title: "Einladung annehmen",
      intro: "Sie werden bei {service} Mitglied von {platform}. Sie melden sich als {email} an.",
      label: "Passwort",
      hint: "12 bis 128 Zeichen. Kein häufiges Passwort und keines aus Ihrer E-Mail-Adresse oder dem Namen Ihres Teams oder dieses Dienstes.",
      button: "Einladung annehmen",
      doneTitle: "Sie sind dabei",
      done: "Melden Sie sich mit Ihrer E-Mail-Adresse und diesem Passwort an. Sie können dieses Fenster schließen.",
    },
  },
  notices: {
    title: "Diese Mails abschalten?",
    intro:
      "Dann bekommt sie kein Inhaber Ihrer Plattform mehr. Ein Inhaber kann sie wieder einschalten: PATCH /v1/platform/notices.",
    button: "Abschalten",
    doneTitle: "Abgeschaltet",
    done: "Die Inhaber Ihrer Plattform bekommen diese Mails nicht mehr. Sie können dieses Fenster schließen.",
    invalid:
      "Der Link ist beschädigt oder älter als 60 Tage, oder Sie sind kein Inhaber dieser Plattform mehr.",
    kinds: {
      connectionNeedsReauth: "Mails über Konten, die ihre Inhaber neu verknüpfen müssen",
      endpointDisabled: "Mails über abgeschaltete Webhook-Endpunkte",
      balanceLow: "Mails über ein niedriges Guthaben",
      outcomeUnknown: "Mails über Beiträge mit unbekanntem Ausgang",
    },
  },
  invalidTitle: "Dieser Link funktioniert nicht",
  invalid:
    "Er wurde schon benutzt, ist abgelaufen oder durch einen neueren ersetzt. Wenn Sie ihn eben benutzt haben, hat es geklappt: Melden Sie sich an. Fordern Sie sonst einen neuen Link an.",
  acceptedTitle: "Sie sind schon dabei",
  accepted:
    "Diese Einladung wurde angenommen. Melden Sie sich mit Ihrer E-Mail-Adresse und dem Passwort an, das Sie gewählt haben. Wenn Sie es nicht mehr wissen, setzen Sie es dort zurück, wo Sie sich anmelden.",
  email: "E-Mail-Adresse",
  wrongPassword: "Das Passwort stimmt nicht. Versuchen Sie es noch einmal.",
  badNewPassword: "Wählen Sie ein Passwort mit 12 bis 128 Zeichen, das schwer zu erraten ist.",
  tooManyTitle: "Zu viele Versuche",
  tooMany: "Warten Sie einige Minuten und öffnen Sie den Link dann noch einmal.",
  taken: "Mit dieser Adresse meldet sich schon jemand anderes an.",
  hasAccount:
    "Zu dieser E-Mail-Adresse gibt es schon ein Konto. Bitten Sie um eine Einladung an eine andere Adresse.",
  suspended:
    "Das Konto Ihres Teams ist gesperrt oder geschlossen. Fragen Sie die Person, die Sie eingeladen hat.",
  failedTitle: "Das hat nicht geklappt",
  failed: "Der Dienst kann gerade nicht antworten. Öffnen Sie den Link gleich noch einmal.",
};
