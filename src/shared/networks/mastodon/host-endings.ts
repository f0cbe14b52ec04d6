import tlds from "tlds" with { type: "json" };

/*
 * The host endings by which a Mastodon server recognizes a link: the top-level domains of March 2020, as in
 * twitter-text 3.1.0. Later ones make no links there, so this is not today's list: all changes since are undone here,
 * and a test reports when the package has changed again.
 */

/** Removed since. */
const ENDED = `
abarth active adac afamilycompany aigo alfaromeo an avianca bananarepublic bentley bl blanco bnl
boots bq budapest bugatti cancerresearch cartier caseih cbs ceb chloe chrysler cityeats comcast
cookingchannel csc dabur dodge doha doosan duck dunlop duns eh epost esurance etisalat everbank
fiat flsmidth foodnetwork frontdoor fujixerox glade goodhands guardian hgtv honeywell hoteles
htc iinet intel iselect iveco iwc jcp jlc kerrylogistics kinder ladbrokes lancaster lancia
lancome liaison linde lipsy lixil loft lupin macys maserati mcd mcdonalds meo metlife mf mobily
montblanc mopar movistar mtpc mutual mutuelle nadex nationwide natura newholland
northwesternmutual off oldnavy onion onyourside orientexpress pamperedchef panerai passagens
piaget pramerica qvc raid redstone rightathome rmit rocher sapo sca scjohnson scor ses shaw
showtime shriram spiegel spreadbetting srt starhub statoil swiftcover symantec telecity
telefonica tiffany tp travelchannel uconnect um vista vistaprint volkswagen vuelos warman
xfinity xperia zippo اتصالات موبايلي 大众汽车 工行 手表 珠宝 诺基亚
`;

/** Added since. */
const LATER: ReadonlySet<string> = new Set(
  "amazon kids music spa ישראל アマゾン 亚马逊".split(" "),
);

let known: ReadonlySet<string> | undefined;

export function hostEndings(): ReadonlySet<string> {
  known ??= new Set([...tlds.filter((name) => !LATER.has(name)), ...ENDED.trim().split(/\s/)]);
  return known;
}
