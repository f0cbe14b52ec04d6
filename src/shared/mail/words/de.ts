import type { MailWords } from "./en.ts";

export const de: MailWords = {
  mails: {
    verify: {
      subject: "Bestätigen Sie Ihre E-Mail-Adresse für {service}",
      lines: [
        "Mit dieser Adresse hat sich jemand bei {service} registriert. Öffnen Sie den Link und geben Sie das Passwort ein, mit dem Sie sich registriert haben. Der Link gilt 7 Tage.",
        "Wenn Sie das nicht waren, öffnen Sie ihn nicht. Dann passiert nichts.",
      ],
      button: "Adresse bestätigen",
    },
    reset: {
      subject: "Neues Passwort für {service} wählen",
      lines: [
        "Jemand hat ein neues Passwort für Ihr Konto bei {service} angefordert. Wenn Sie das waren, öffnen Sie den Link. Er gilt einmal und 60 Minuten lang.",
        "Wenn Sie das nicht waren, ignorieren Sie diese Mail. Ihr Passwort bleibt, wie es ist.",
      ],
      button: "Passwort wählen",
    },
    passwordChanged: {
      subject: "Ihr Passwort für {service} wurde geändert",
      lines: [
        "Das Passwort Ihres Kontos bei {service} wurde geändert. Alle anderen Sitzungen wurden beendet.",
        "Wenn Sie das nicht waren, fordern Sie auf der Anmeldeseite sofort ein neues Passwort an und sagen Sie uns Bescheid.",
      ],
    },
    newLogIn: {
      subject: "Neue Anmeldung bei {service}",
      lines: [
        "Jemand hat sich mit Ihrem Passwort bei Ihrem Konto bei {service} angemeldet, von einem Gerät und aus einem Netz, die bisher nicht benutzt wurden. Zeit: {time}. Adresse: {address}.",
        "Wenn Sie das waren, ist nichts zu tun. Wenn nicht, fordern Sie auf der Anmeldeseite sofort ein neues Passwort an. Das beendet alle Sitzungen.",
      ],
    },
    wrongCodes: {
      subject: "Falsche Codes bei Ihrer Anmeldung bei {service}",
      lines: [
        "Jemand hat Ihr Passwort und danach fünf falsche Codes Ihres zweiten Faktors eingegeben. Keiner dieser Codes hat Zugang gegeben.",
        "Wenn Sie das nicht waren, kennt jemand Ihr Passwort. Ändern Sie es sofort.",
      ],
    },
    secondFactorOn: {
      subject: "Der zweite Faktor Ihres Kontos bei {service} ist an",
      lines: [
        "Die Anmeldung bei {service} fragt jetzt auch nach einem Code Ihrer Authenticator-App.",
        "Wenn Sie das nicht waren, fordern Sie auf der Anmeldeseite sofort ein neues Passwort an und sagen Sie uns Bescheid.",
      ],
    },
    secondFactorOff: {
      subject: "Der zweite Faktor Ihres Kontos bei {service} ist aus",
      lines: [
        "Die Anmeldung bei {service} fragt jetzt nur noch nach dem Passwort.",
        "Wenn Sie das nicht waren, fordern Sie auf der Anmeldeseite sofort ein neues Passwort an und sagen Sie uns Bescheid.",
      ],
    },
    roleChanged: {
      subject: "{email} ist jetzt {role} bei {service}",
      lines: [
        "Die Rolle von {email} auf Ihrer Plattform ist jetzt: {role}. Ein Inhaber darf alles. Ein Mitglied kann Benutzer, Schlüssel, Limits und Benachrichtigungen nicht ändern.",
        "Wenn das kein Inhaber Ihrer Plattform war, sagen Sie uns Bescheid.",
      ],
    },
    ownerRemoved: {
      subject: "{email} ist kein Inhaber bei {service} mehr",
      lines: [
        "{email} war ein Inhaber Ihrer Plattform und wurde entfernt. Mit dieser Adresse kann sich niemand mehr anmelden.",
        "Wenn das niemand von Ihrer Plattform war, sagen Sie uns Bescheid.",
      ],
    },
    adminKeyMade: {
      subject: "Ein Schlüssel app_admin wurde bei {service} erstellt",
      lines: [
        "Der Schlüssel {key} wurde für die Anwendung {application} erstellt. Er darf in dieser Anwendung alles.",
        "Wenn ihn niemand von Ihrer Plattform erstellt hat, widerrufen Sie ihn sofort.",
      ],
    },
    connectionNeedsReauth: {
      subject: "Verknüpfte Konten brauchen ihre Inhaber",
      lines: [
        "Netzwerke nehmen die Berechtigung dieser Konten nicht mehr an. Dort wird nichts veröffentlicht, bis ihre Inhaber sie neu verknüpfen.",
        "Schicken Sie jedem Inhaber einen neuen Link zur Verknüpfungsseite.",
      ],
      item: "{at}: {network}, Profil {profile}, Verbindung {connection}",
    },
    endpointDisabled: {
      subject: "Webhook-Endpunkte wurden abgeschaltet",
      lines: [
        "{service} sendet nichts mehr an diese Webhook-Endpunkte.",
        "Reparieren Sie den Empfänger und schalten Sie den Endpunkt dann wieder ein. Was er verpasst hat, steht in der Liste der Ereignisse.",
      ],
      item: "{at}: Endpunkt {endpoint}, Anwendung {application}: {reason}",
    },
    balanceLow: {
      subject: "Ihr Guthaben bei {service} ist niedrig",
      lines: [
        "Die verfügbaren Token Ihrer Plattform sind unter {low} gefallen. Wenn keine mehr da sind, werden Beiträge abgelehnt.",
        "Kaufen Sie rechtzeitig Token.",
      ],
      item: "{at}: {available} Token verfügbar",
    },
    outcomeUnknown: {
      subject: "Beiträge mit unbekanntem Ausgang",
      lines: [
        "Die Netzwerke haben nicht gesagt, ob sie diese Beiträge veröffentlicht haben. Die Beiträge gelten als fehlgeschlagen und werden nicht noch einmal gesendet, damit keiner doppelt erscheint.",
        "Sehen Sie im Konto nach. Wiederholen Sie einen Beitrag nur, wenn er dort fehlt.",
      ],
      item: "{at}: {network}, Beitrag {post}, Profil {profile}",
    },
    email: {
      subject: "Bestätigen Sie Ihre neue E-Mail-Adresse für {service}",
      lines: [
        "Sie möchten sich bei {service} mit dieser Adresse anmelden. Öffnen Sie den Link und geben Sie Ihr Passwort ein. Der Link gilt 7 Tage.",
        "Wenn Sie das nicht waren, öffnen Sie ihn nicht. Dann passiert nichts.",
      ],
      button: "Adresse bestätigen",
    },
    emailAsked: {
      subject: "Ihre E-Mail-Adresse für {service} soll sich ändern",
      lines: [
        "Jemand, der Ihr Passwort kennt, möchte die Adresse Ihres Kontos bei {service} ändern. Sie ändert sich, sobald der Link an die neue Adresse geöffnet wird.",
        "Wenn Sie das nicht waren, ändern Sie sofort Ihr Passwort. Das beendet den Link.",
      ],
    },
    emailChanged: {
      subject: "Ihre E-Mail-Adresse für {service} wurde geändert",
      lines: [
        "Ihr Konto bei {service} hat jetzt eine andere E-Mail-Adresse. Mit dieser können Sie sich nicht mehr anmelden.",
        "Wenn Sie das nicht waren, sagen Sie uns Bescheid.",
      ],
    },
    operatorReset: {
      subject: "Ein Betreiber hat einen Link für {email} erstellt",
      lines: [
        "Ein Betreiber von {service} hat einen Link erstellt, mit dem sich ein neues Passwort für {email} setzen lässt. Er gilt einmal und 60 Minuten lang.",
        "Wenn das niemand angefordert hat, sagen Sie uns Bescheid.",
      ],
    },
    platformClosed: {
      subject: "Ihre Plattform bei {service} wurde geschlossen",
      lines: [
        "Eine Person mit der Rolle Owner hat Ihre Plattform geschlossen. API-Schlüssel, Anmeldungen und verknüpfte Konten sind beendet, geplante Beiträge abgesagt. Am {date} UTC wird alles gelöscht; nicht verbrauchte Tokens verfallen.",
        "War es ein Versehen, melden Sie sich vorher bei uns: Wir können die Plattform wieder öffnen. Schlüssel und verknüpfte Konten bleiben beendet.",
      ],
    },
    platformReopened: {
      subject: "Ihre Plattform bei {service} ist wieder offen",
      lines: [
        "Ein Betreiber von {service} hat Ihre geschlossene Plattform wieder geöffnet. Melden Sie sich an wie bisher. API-Schlüssel und verknüpfte Konten sind beendet: Erstellen Sie neue Schlüssel, und lassen Sie die Konten neu verknüpfen. Geplante Beiträge bleiben abgesagt.",
        "Wenn das niemand mit der Rolle Owner wollte, sagen Sie uns Bescheid.",
      ],
    },
    platformEnding: {
      subject: "Ihre Plattform bei {service} wird bald gelöscht",
      lines: [
        "Ihre Plattform ist geschlossen. Am {date} UTC wird alles gelöscht; nicht verbrauchte Tokens verfallen. Danach lässt sich nichts wiederherstellen.",
        "Wenn Sie sie behalten möchten, melden Sie sich vorher bei uns.",
      ],
    },
    invitation: {
      subject: "Einladung zu {service}",
      lines: [
        "Sie sind eingeladen, bei {service} Mitglied von {platform} zu werden. Öffnen Sie den Link und wählen Sie ein Passwort. Er gilt einmal und 7 Tage lang.",
        "Wenn Sie das nicht möchten, ignorieren Sie diese Mail. Dann passiert nichts.",
      ],
      button: "Einladung annehmen",
    },
  },
  quote: "„{text}“",
  aTeam: "einem Team",
  values: {
    owner: "Inhaber",
    member: "Mitglied",
    gone: "sein Empfänger antwortete 410 Gone",
    abandoned: "5 Tage lang konnte nichts zugestellt werden",
    unknown: "unbekannt",
  },
  more: "Und {count} weitere.",
  footer: {
    sentBy:
      "Gesendet von {service}. Diese Mail wurde automatisch erstellt. Antworten liest niemand.",
    support: "Hilfe: {url}",
    off: "Diese Mails für Ihre Plattform abschalten",
  },
};
