import type { Words } from "./en.ts";

export const de: Words = {
  skip: "Zum Inhalt springen",
  logo: "Firmenlogo",
  problem: {
    title: "Fehler: {title}",
    general: "Das hat nicht geklappt",
    at: "{network} wurde nicht verbunden",
    kept: "Ihre Verbindung zu {network} wurde nicht geändert",
  },
  page: {
    title: "Konten verbinden",
    lead: "Wählen Sie die Konten, auf denen veröffentlicht werden darf.",
    leadFor: "Wählen Sie die Konten, auf denen {brand} veröffentlichen darf.",
    note: "Auf dieser Seite wird nichts veröffentlicht.",
    progress: "{linked} von {total} verbunden",
    linked: "{network} ist verbunden.",
    done: "Fertig",
    doneHint: "Sie können weitere Konten verbinden oder hier abschließen.",
    cancel: "Abbrechen",
    back: "Zurück",
    backTo: "Zurück zu {brand}",
    later: "Sie können dieses Fenster schließen. Der Link funktioniert, bis er abläuft.",
    goOn: "Weiter verbinden",
    accounts: "Verbundene Konten",
  },
  footer: {
    privacy: "Datenschutz",
    terms: "Nutzungsbedingungen",
    support: "Hilfe",
    newTab: "(öffnet einen neuen Tab)",
  },
  steps: {
    label: "Schritte",
    network: "Netzwerk wählen",
    allow: "Zugriff erlauben",
    done: "Fertig",
  },
  card: {
    linkedAs: "Verbunden als {name}",
    unlinked: "Nicht verbunden",
    attention: "Neu verbinden",
    again: "Verbinden Sie {name} erneut. Wartende Beiträge werden danach veröffentlicht.",
    unavailable: "Zurzeit nicht verfügbar.",
    leaves: "Sie melden sich bei {network} an und kommen hierher zurück.",
    connect: "{network} verbinden",
    continueAt: "Weiter zu {network}",
    reconnect: "{network} erneut verbinden",
    partly: "Eine Berechtigung fehlt",
    lacks:
      "Bei {network} wurden nicht alle Berechtigungen erteilt, daher fehlen einige Funktionen. Verbinden Sie das Konto erneut und erlauben Sie alle.",
    another: "Wenn Sie ein anderes Konto verbinden, ersetzt es dieses.",
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
    lead: "Mit Ihrer Anmeldung bei {network} haben Sie Zugriff auf mehrere Konten.",
    legend: "Welches Konto möchten Sie verbinden?",
    cut: "Nicht alle Ihre Konten passen auf diese Seite. Fehlt Ihres, beginnen Sie noch einmal und wählen Sie bei {network} nur dieses aus.",
    submit: "Dieses Konto verbinden",
    back: "Zurück zu allen Netzwerken",
  },
  notices: {
    unknown: {
      title: "Dieser Link funktioniert nicht",
      text: "Er ist vielleicht unvollständig oder veraltet. Gehen Sie zurück zu dem Dienst, der Sie hierher geschickt hat, und beginnen Sie dort neu.",
    },
    completed: {
      title: "Hier sind Sie fertig",
      text: "Ihre Konten sind verbunden, und dieser Link wurde schon benutzt. Um weitere zu verbinden, gehen Sie zurück zu dem Dienst, der Sie hierher geschickt hat, und beginnen Sie dort neu.",
    },
    canceled: {
      title: "Der Vorgang wurde abgebrochen",
      text: "Auf dieser Seite kann nichts mehr verbunden werden. Um weiterzumachen, gehen Sie zurück zu dem Dienst, der Sie hierher geschickt hat, und beginnen Sie dort neu.",
    },
    ended: {
      title: "Dieser Link gilt nicht mehr",
      text: "Der Dienst, der Sie hierher geschickt hat, hat ihn zurückgezogen. Auf dieser Seite kann nichts mehr verbunden werden. Verbundene Konten bleiben verbunden. Um weitere zu verbinden, beginnen Sie bei diesem Dienst neu.",
    },
    expired: {
      title: "Diese Seite ist abgelaufen",
      text: "Sie war zu lange offen. Verbundene Konten bleiben verbunden. Um weitere zu verbinden, gehen Sie zurück zu dem Dienst, der Sie hierher geschickt hat, und beginnen Sie dort neu.",
    },
    open: {
      title: "Das geht gerade nicht",
      text: "Ihre Konten können im Moment nicht verbunden werden. Bitte wenden Sie sich an den Dienst, der Sie hierher geschickt hat.",
    },
    allSet: {
      title: "Alles erledigt",
      text: "Ihre Konten sind verbunden. Sie können dieses Fenster schließen.",
    },
    paused: {
      title: "Noch ist nichts verbunden",
      text: "Sie können dieses Fenster schließen. Um später ein Konto zu verbinden, öffnen Sie Ihren Link noch einmal.",
    },
    foreign: {
      title: "Das kam nicht von unserer Seite",
      text: "Zu Ihrer Sicherheit wurde nichts ausgeführt. Öffnen Sie Ihren Link noch einmal und machen Sie dort weiter.",
    },
    unreadable: {
      title: "Das Formular konnte nicht gelesen werden",
      text: "Es war zu groß oder kam beschädigt an; es ist nichts geschehen. Öffnen Sie Ihren Link noch einmal und machen Sie dort weiter.",
    },
    deletionReceived: {
      title: "Wir haben Ihre Anfrage erhalten",
      text: "Ihre Konten werden getrennt und die zugehörigen Zugangsdaten gelöscht.",
    },
    deletionDone: {
      title: "Ihre Konten sind getrennt",
      text: "Die zugehörigen Zugangsdaten wurden gelöscht.",
    },
    usedStep: {
      title: "Dieser Schritt ist vorbei",
      text: "Er wurde schon benutzt oder hat zu lange gedauert. Öffnen Sie Ihren Link noch einmal: Dort sehen Sie, was verbunden ist, und können weitermachen.",
    },
    otherBrowser: {
      title: "Bitte bleiben Sie in einem Browser",
      text: "Sie haben in einem anderen Browser begonnen, oder dieser speichert keine Cookies. Zu Ihrer Sicherheit wurde nichts verbunden. Öffnen Sie Ihren Link in einem Browser und führen Sie alle Schritte dort aus.",
    },
    outage: {
      title: "Bitte versuchen Sie es noch einmal",
      text: "Das ging gerade nicht. Laden Sie die Seite in einer Minute neu; es ist nichts verloren.",
    },
    failure: {
      title: "Etwas ist schiefgegangen",
      text: "Der Fehler liegt bei uns und wurde protokolliert ({id}). Öffnen Sie Ihren Link noch einmal: Dort sehen Sie, was verbunden ist.",
    },
  },
  problems: {
    wrong_credentials:
      "{network} hat dieses App-Passwort für dieses Konto nicht angenommen. Prüfen Sie es auf Tippfehler oder erstellen Sie ein neues.",
    app_password_needed:
      "Das ist kein App-Passwort. Erstellen Sie eines in den Einstellungen von {network} und geben Sie es hier ein.",
    account_moved:
      "Dieses Konto ist auf einen anderen Server umgezogen. Geben Sie sein Handle ein, nicht die E-Mail-Adresse.",
    account_not_found:
      "{network} kennt dieses Konto nicht. Prüfen Sie die Schreibweise, auch den Teil nach dem letzten Punkt.",
    account_restricted:
      "{network} hat dieses Konto eingeschränkt. Melden Sie sich bei {network} an, folgen Sie den Anweisungen dort und versuchen Sie es dann hier noch einmal.",
    instance_unreachable:
      "Dieser Server ist nicht erreichbar. Prüfen Sie die Adresse. Wenn sie stimmt, versuchen Sie es in ein paar Minuten noch einmal.",
    instance_protected:
      "Der Schutz vor diesem Server weist andere Dienste ab. Versuchen Sie es später noch einmal oder bitten Sie die Administratoren des Servers, dessen API durchzulassen.",
    instance_unsupported:
      "Dieser Server antwortet nicht wie ein Server von {network}. Prüfen Sie die Adresse oder fragen Sie die Administratoren des Servers. Ein Konto auf einem anderen Server geht auch.",
    access_denied:
      "Sie haben bei {network} keine Erlaubnis gegeben. War das ein Versehen, beginnen Sie noch einmal.",
    other_account:
      "Sie haben die Erlaubnis für ein anderes Konto gegeben. Melden Sie sich bei {network} mit dem hier eingegebenen Konto an oder geben Sie hier das andere ein.",
    permission_missing:
      "Eine Berechtigung, die zum Veröffentlichen nötig ist, wurde bei {network} nicht erteilt. Beginnen Sie noch einmal und lassen Sie alles ausgewählt.",
    rate_limited:
      "Bei {network} gab es zu viele Versuche. Warten Sie ein paar Minuten und versuchen Sie es dann noch einmal.",
    service_limited:
      "Der Dienst, der Sie hierher geschickt hat, kann bei {network} heute keine weiteren Konten verbinden. An Ihrem Konto liegt es nicht. Versuchen Sie es morgen noch einmal.",
    service_refused:
      "{network} lässt den Dienst, der Sie hierher geschickt hat, dieses Konto zurzeit nicht verbinden. Bitte sagen Sie diesem Dienst Bescheid.",
    network_unavailable:
      "{network} antwortet im Moment nicht. Versuchen Sie es in ein paar Minuten noch einmal.",
    account_kind_unsupported:
      "{network} erlaubt anderen Diensten nicht, für diese Art von Konto zu veröffentlichen. Stellen Sie es in den Einstellungen von {network} auf ein professionelles Konto um und versuchen Sie es dann hier noch einmal.",
    nothing_to_choose:
      "{network} hat keine Seite genannt, auf der Sie veröffentlichen dürfen. Beginnen Sie noch einmal und lassen Sie alle Seiten ausgewählt. Wenn Sie keine haben, legen Sie dort eine an oder bitten Sie die Administratoren einer Seite, Sie Inhalte erstellen zu lassen.",
    input_invalid:
      "Diese Angabe fehlt oder hat nicht die erwartete Form. Prüfen Sie sie und versuchen Sie es noch einmal.",
    unpaid:
      "Im Moment können keine Konten verbunden werden. Es wurde nichts geändert. Bitte informieren Sie den Dienst, der Sie hierher geschickt hat.",
    too_many_attempts:
      "Auf dieser Seite gab es zu viele Versuche. Gehen Sie zurück zu dem Dienst, der Sie hierher geschickt hat, und beginnen Sie dort neu.",
    not_available: "{network} kann im Moment nicht verbunden werden.",
    nothing_linked: "Noch ist kein Konto verbunden. Verbinden Sie zuerst mindestens eines.",
    nothing_chosen: "Wählen Sie zuerst ein Konto aus.",
    step_over:
      "Dieser Schritt bei {network} hat zu lange gedauert oder wurde schon verwendet. Beginnen Sie noch einmal.",
  },
  fields: {
    "linkedin.kind": {
      label: "Veröffentlichen als",
      hint: "Eine Unternehmensseite können Sie nur wählen, wenn Sie dort Administratorrechte haben",
      choices: { member: "Ich selbst", organization: "Eine Unternehmensseite" },
    },
    "bluesky.identifier": {
      label: "Ihr Handle (optional)",
      hint: "Zum Beispiel alice.bsky.social oder die Adresse Ihres eigenen Servers. Bleibt das Feld leer, melden Sie sich bei bsky.social an",
    },
    "bluesky.alternative.identifier": {
      label: "Handle oder E-Mail-Adresse",
      hint: "Womit Sie sich bei Bluesky anmelden, zum Beispiel alice.bsky.social",
    },
    "bluesky.alternative.appPassword": {
      label: "App-Passwort",
      hint: "Nicht das Passwort, mit dem Sie sich anmelden. Erstellen Sie eines bei Bluesky: Einstellungen > Privatsphäre und Sicherheit > App-Passwörter",
    },
    "bluesky.alternative.server": {
      label: "Adresse des Servers (optional)",
      hint: "Nur wenn Ihr Konto auf einem eigenen Server liegt, der über das Handle nicht zu finden ist",
    },
    "mastodon.instance": {
      label: "Ihr Server",
      hint: "Die Adresse Ihres Mastodon-Servers oder Ihr vollständiges Handle, zum Beispiel @alice@mastodon.social",
    },
  },
};
