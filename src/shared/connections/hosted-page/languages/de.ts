import type { Words } from "./en.ts";

export const de: Words = {
  skip: "Zum Inhalt springen",
  logo: "Firmenzeichen",
  problem: {
    title: "Fehler: {title}",
    general: "Das hat nicht geklappt",
    at: "{network} wurde nicht verbunden",
    goTo: "Zu {network}",
  },
  page: {
    title: "Verbinden Sie Ihre Konten",
    lead: "Wählen Sie die Konten, auf denen veröffentlicht werden darf.",
    leadFor: "Wählen Sie die Konten, auf denen {brand} veröffentlichen darf.",
    note: "Auf dieser Seite wird nichts veröffentlicht.",
    progress: "{linked} von {total} verbunden",
    linked: "{network} ist verbunden.",
    done: "Fertig",
    doneHint: "Verbinden Sie weitere Konten oder schließen Sie mit „Fertig“ ab.",
    cancel: "Abbrechen",
    back: "Zurück",
    backTo: "Zurück zu {brand}",
  },
  steps: {
    label: "Schritte",
    network: "Netzwerk wählen",
    allow: "Zugriff erlauben",
    done: "Fertig",
  },
  card: {
    linked: "Verbunden",
    linkedAs: "Verbunden als {name}",
    unlinked: "Nicht verbunden",
    attention: "Bitte neu verbinden",
    again: "{name} muss erneut verbunden werden. Wartende Beiträge werden danach veröffentlicht.",
    unavailable: "Zurzeit nicht verfügbar.",
    leaves: "Sie melden sich bei {network} an und kommen hierher zurück.",
    connect: "{network} verbinden",
    continueAt: "Weiter bei {network}",
    reconnect: "{network} erneut verbinden",
    another: "Stattdessen ein anderes Konto verbinden",
    otherWay: "Auf anderem Weg verbinden",
  },
  about: {
    facebook: "Für Facebook-Seiten, die Sie verwalten.",
    instagram: "Für professionelle Konten: Unternehmen oder Creator.",
  },
  otherWays: {
    bluesky: "Stattdessen ein App-Passwort verwenden",
  },
  choice: {
    title: "Wählen Sie ein Konto",
    lead: "Bei {network} können Sie für mehrere veröffentlichen.",
    legend: "Welches soll verbunden werden?",
    cut: "Es gibt mehr, als hier stehen. Fehlt Ihres, beginnen Sie noch einmal und wählen Sie bei {network} nur dieses aus.",
    submit: "Dieses verbinden",
    back: "Zurück zu allen Netzwerken",
  },
  notices: {
    unknown: {
      title: "Dieser Link funktioniert nicht",
      text: "Er ist vielleicht unvollständig oder veraltet. Gehen Sie zurück zu dem Dienst, der Sie hierher geschickt hat, und beginnen Sie dort neu.",
    },
    completed: {
      title: "Hier sind Sie fertig",
      text: "Diese Seite wurde schon benutzt und Ihre Konten sind verbunden. Um weitere zu verbinden, beginnen Sie dort neu, wo Sie hergekommen sind.",
    },
    canceled: {
      title: "Das wurde abgebrochen",
      text: "Auf dieser Seite kann nichts mehr verbunden werden. Um weiterzumachen, beginnen Sie dort neu, wo Sie hergekommen sind.",
    },
    ended: {
      title: "Dieser Link gilt nicht mehr",
      text: "Der Dienst, der Sie hergeschickt hat, hat ihn zurückgezogen; auf dieser Seite lässt sich nichts mehr verbinden. Verbundene Konten bleiben verbunden; für andere beginnen Sie dort neu, wo Sie hergekommen sind.",
    },
    expired: {
      title: "Diese Seite ist abgelaufen",
      text: "Sie war zu lange offen. Verbundene Konten bleiben verbunden; für andere beginnen Sie dort neu, wo Sie hergekommen sind.",
    },
    open: {
      title: "Das geht gerade nicht",
      text: "Für Sie können im Moment keine Konten verbunden werden. Bitte fragen Sie den Dienst, der Sie hierher geschickt hat.",
    },
    allSet: {
      title: "Alles erledigt",
      text: "Ihre Konten sind verbunden. Sie können dieses Fenster schließen.",
    },
    nothing: {
      title: "Es wurde nichts verbunden",
      text: "Sie haben die Seite verlassen, ohne ein Konto zu verbinden. Sie können dieses Fenster schließen.",
    },
    foreign: {
      title: "Das kam nicht von unserer Seite",
      text: "Zu Ihrer Sicherheit wurde nichts getan. Öffnen Sie noch einmal den Link, den Sie bekommen haben, und machen Sie dort weiter.",
    },
    unreadable: {
      title: "Dieses Formular war nicht lesbar",
      text: "Es enthielt mehr, als diese Seite annimmt, oder kam beschädigt an; es ist nichts geschehen. Öffnen Sie noch einmal den Link, den Sie bekommen haben, und machen Sie dort weiter.",
    },
    deletionReceived: {
      title: "Wir haben Ihre Anfrage erhalten",
      text: "Ihre Konten werden getrennt und ihre Zugangsdaten gelöscht.",
    },
    deletionDone: {
      title: "Ihre Konten sind getrennt",
      text: "Ihre Zugangsdaten wurden gelöscht.",
    },
    usedStep: {
      title: "Dieser Schritt ist vorbei",
      text: "Er wurde schon benutzt oder hat zu lange gedauert. Öffnen Sie noch einmal den Link, den Sie bekommen haben: Dort sehen Sie, was verbunden ist, und können weitermachen.",
    },
    otherBrowser: {
      title: "Bitte bleiben Sie in einem Browser",
      text: "Begonnen wurde in einem anderen Browser, oder dieser hier behält keine Cookies. Zu Ihrer Sicherheit wurde nichts verbunden. Öffnen Sie den Link, den Sie bekommen haben, in einem Browser und gehen Sie alle Schritte dort.",
    },
    outage: {
      title: "Bitte versuchen Sie es noch einmal",
      text: "Das ging gerade nicht. Laden Sie die Seite in einer Minute neu; es ist nichts verloren.",
    },
    failure: {
      title: "Etwas ist schiefgegangen",
      text: "Das ist unser Fehler und wurde aufgezeichnet ({id}). Öffnen Sie noch einmal den Link, den Sie bekommen haben: Dort sehen Sie, was verbunden ist.",
    },
  },
  problems: {
    wrong_credentials:
      "{network} hat diesen Namen und dieses Passwort nicht angenommen. Prüfen Sie beides auf Tippfehler und versuchen Sie es noch einmal.",
    app_password_needed:
      "Hier wird ein App-Passwort gebraucht, nicht das Passwort, mit dem Sie sich anmelden. Erstellen Sie eines in den Einstellungen von {network} und geben Sie es hier ein.",
    account_moved:
      "Dieses Konto ist auf einen anderen Server umgezogen. Geben Sie hier seinen Namen ein, nicht die E-Mail-Adresse.",
    account_not_found:
      "{network} kennt dieses Konto nicht. Prüfen Sie die Schreibweise, auch den Teil nach dem letzten Punkt.",
    account_restricted:
      "{network} hat dieses Konto eingeschränkt. Melden Sie sich bei {network} an, tun Sie, was dort verlangt wird, und versuchen Sie es dann hier noch einmal.",
    instance_unreachable:
      "Dieser Server war nicht zu erreichen. Prüfen Sie die Adresse; wenn sie stimmt, versuchen Sie es in ein paar Minuten noch einmal.",
    instance_unsupported:
      "Dieser Server antwortet nicht so, wie Server von {network} es tun. Prüfen Sie die Adresse oder nehmen Sie ein Konto auf einem anderen Server.",
    access_denied:
      "Sie haben bei {network} keine Erlaubnis gegeben, deshalb wurde nichts verbunden. Beginnen Sie noch einmal, wenn das ein Versehen war.",
    other_account:
      "Sie haben die Erlaubnis für ein anderes Konto gegeben als das eingegebene, deshalb wurde nichts verbunden. Melden Sie sich bei {network} mit dem eingegebenen an oder geben Sie hier den anderen Namen ein.",
    permission_missing:
      "Eine Berechtigung, die zum Veröffentlichen nötig ist, wurde bei {network} nicht erteilt. Beginnen Sie noch einmal und lassen Sie alles angekreuzt.",
    rate_limited:
      "{network} verlangt nach so vielen Versuchen eine Pause. Warten Sie ein paar Minuten und versuchen Sie es dann noch einmal.",
    network_unavailable:
      "{network} antwortet im Moment nicht. Es wurde nichts verbunden; versuchen Sie es in ein paar Minuten noch einmal.",
    account_kind_unsupported:
      "{network} lässt andere Dienste für Konten dieser Art nicht veröffentlichen. Machen Sie es in den Einstellungen bei {network} zu einem professionellen Konto und versuchen Sie es dann hier noch einmal.",
    nothing_to_choose:
      "{network} hat uns keine Seite gezeigt, für die Sie veröffentlichen dürfen. Beginnen Sie noch einmal und lassen Sie jede Seite angekreuzt. Wenn Sie keine haben, legen Sie dort eine an oder bitten Sie den Inhaber einer Seite, Sie Inhalte erstellen zu lassen.",
    input_invalid:
      "Etwas fehlt oder ist anders geschrieben als erwartet. Prüfen Sie die Felder und versuchen Sie es noch einmal.",
    unpaid:
      "Im Moment können keine Konten verbunden werden. Es wurde nichts geändert; bitte sagen Sie es dem Dienst, der Sie hierher geschickt hat.",
    too_many_attempts:
      "Auf dieser Seite gab es zu viele Versuche. Gehen Sie zurück zu dem Dienst, der Sie hierher geschickt hat, und beginnen Sie dort neu.",
    not_available: "{network} kann im Moment nicht verbunden werden.",
    nothing_linked: "Noch ist kein Konto verbunden. Verbinden Sie zuerst mindestens eines.",
    nothing_chosen: "Wählen Sie zuerst eines davon aus.",
    step_over:
      "Der Besuch bei {network} hat zu lange gedauert oder wurde schon benutzt. Beginnen Sie ihn noch einmal.",
  },
  fields: {
    "linkedin.kind": {
      label: "Veröffentlichen als",
      hint: "Eine Unternehmensseite kann wählen, wer sie verwaltet",
      choices: { member: "Ich selbst", organization: "Eine Unternehmensseite" },
    },
    "bluesky.identifier": {
      label: "Handle (freiwillig)",
      hint: "Zum Beispiel alice.bsky.social oder die Adresse Ihres eigenen Servers. Bleibt das Feld leer, melden Sie sich bei bsky.social an",
    },
    "bluesky.alternative.identifier": {
      label: "Handle oder E-Mail-Adresse",
      hint: "Womit Sie sich bei Bluesky anmelden, zum Beispiel alice.bsky.social",
    },
    "bluesky.alternative.appPassword": {
      label: "App-Passwort",
      hint: "Nicht Ihr eigenes Passwort: Erstellen Sie eines bei Bluesky unter Einstellungen, Privatsphäre und Sicherheit, App-Passwörter",
    },
    "bluesky.alternative.server": {
      label: "Adresse des Servers (freiwillig)",
      hint: "Nur wenn Ihr Konto auf einem eigenen Server liegt, der über das Handle nicht zu finden ist",
    },
    "mastodon.instance": {
      label: "Ihr Server",
      hint: "Die Adresse Ihres Mastodon-Servers oder Ihr voller Name wie @alice@mastodon.social",
    },
  },
};
