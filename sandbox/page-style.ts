/** The look of the sandbox's pages: light and dark, from a phone's width up, without scripts. */
export const pageStyle = `
:root{color-scheme:light dark;--back:#f3f4f8;--card:#fff;--text:#191b26;--soft:#5c6072;--line:#dfe1ea;--link:#2457d6;--code:#eceef5;--alarm:#b3261e;--bluesky:#0a5fd1;--mastodon:#5a4bd8;--facebook:#1464d2;--instagram:#c2226f;--linkedin:#0a66c2}
@media (prefers-color-scheme:dark){:root{--back:#101218;--card:#191c25;--text:#e9ebf3;--soft:#9ca1b5;--line:#2b2f3d;--link:#8ab0ff;--code:#242836;--alarm:#ff8a80}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
a{color:var(--link)}
code{background:var(--code);border-radius:5px;padding:.08em .35em;font:.88em/1.4 ui-monospace,SFMono-Regular,Menlo,monospace}
.top,main,.end{max-width:84rem;margin:0 auto;padding:0 1.25rem}
.top{padding-top:2rem}
.top h1{margin:0;font-size:1.6rem;letter-spacing:-.01em}
.top a{white-space:nowrap}
.top p{margin:.25rem 0 1.25rem;color:var(--soft)}
.top nav{display:flex;flex-wrap:wrap;gap:.5rem;margin-bottom:1.25rem}
.top nav a{padding:.3rem .8rem;border:1px solid var(--line);border-radius:99px;background:var(--card);font-size:.9rem;text-decoration:none}
.top nav a:hover{border-color:var(--link)}
main{display:grid;gap:1.5rem;align-items:start}
@media (min-width:64rem){main:not(.single){grid-template-columns:minmax(0,1fr) 23rem;grid-template-rows:auto 1fr}.feeds{grid-area:1/1/3/2}.helps{grid-column:2}.top nav{display:none}}
.hidden{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}
.single{max-width:40rem;padding-top:2rem;padding-bottom:2rem}
.feeds{display:grid;gap:1.5rem;grid-template-columns:repeat(auto-fill,minmax(min(22rem,100%),1fr));align-items:start}
.feed{--brand:var(--soft);min-width:0}
.bluesky{--brand:var(--bluesky)}.mastodon{--brand:var(--mastodon)}.facebook{--brand:var(--facebook)}.instagram{--brand:var(--instagram)}.linkedin{--brand:var(--linkedin)}
.feed>h2{display:flex;align-items:center;gap:.55rem;font-size:1.05rem;margin:0 0 .75rem}
.feed>h2::before{content:"";width:.7rem;height:.7rem;border-radius:50%;background:var(--brand)}
.feed>h2 span{margin-left:auto;font-weight:400;font-size:.85rem;color:var(--soft)}
.nothing{border:1px dashed var(--line);border-radius:14px;padding:2rem 1rem;text-align:center;color:var(--soft);margin:0}
.post,.help{background:var(--card);border:1px solid var(--line);border-radius:14px}
.post{padding:1rem 1.1rem .8rem;margin-bottom:1rem}
.post header{display:flex;gap:.7rem;align-items:center}
.face{flex:none;display:grid;place-items:center;width:2.5rem;height:2.5rem;border-radius:50%;background:var(--brand);color:#fff;font-weight:700;font-size:1.1rem}
.who{min-width:0;line-height:1.3}
.who small{display:block;color:var(--soft);font-size:.85rem}
.text{margin:.7rem 0;white-space:normal}
.text:empty{display:none}
.media{display:grid;gap:.5rem;margin:.7rem 0}
.media.n2,.media.n3,.media.n4{grid-template-columns:1fr 1fr}
figure{margin:0;min-width:0}
figure img,figure video{display:block;width:100%;max-height:26rem;object-fit:cover;border-radius:10px;border:1px solid var(--line);background:var(--code)}
.n2 img,.n3 img,.n4 img{aspect-ratio:4/3}
.n3 figure:last-child{grid-column:1/-1}
.n3 figure:last-child img{aspect-ratio:8/3}
figure video{object-fit:contain}
figure strong{display:block;margin-top:.35rem;font-size:.92rem}
.media.carousel{grid-auto-flow:column;grid-auto-columns:86%;overflow-x:auto;scroll-snap-type:x mandatory;padding-bottom:.4rem}
.carousel figure{scroll-snap-align:start}
.carousel img,.carousel video{aspect-ratio:4/5}
.media.reel,.media.story{justify-items:center}
.reel figure,.story figure{width:min(17rem,100%)}
.reel video,.story video,.story img{aspect-ratio:9/16;max-height:none;object-fit:cover}
.document{display:flex;gap:.8rem;align-items:center;padding:.8rem .9rem;border:1px solid var(--line);border-radius:10px;color:inherit;text-decoration:none}
.document:hover{border-color:var(--brand)}
.document b{flex:none;display:grid;place-items:center;width:2.7rem;height:3.4rem;border-radius:5px;background:var(--brand);color:#fff;font-size:.68rem}
.document small{display:block;color:var(--soft)}
figcaption{font-size:.8rem;color:var(--soft);margin-top:.3rem;line-height:1.4}
figcaption b{font-size:.68rem;letter-spacing:.04em;background:var(--text);color:var(--card);border-radius:4px;padding:.1em .4em}
.missing{color:var(--alarm)}
.link{display:block;margin:.7rem 0;border:1px solid var(--line);border-radius:10px;overflow:hidden;color:inherit;text-decoration:none}
a.link:hover{border-color:var(--brand)}
.link img{display:block;width:100%;aspect-ratio:1200/630;object-fit:cover}
.about{display:grid;padding:.65rem .85rem;font-size:.9rem;line-height:1.4}
.about small,.about span{color:var(--soft)}
.warning>summary{cursor:pointer;margin:.7rem 0;padding:.55rem .8rem;background:var(--code);border-radius:10px;font-weight:600}
.post footer{display:flex;flex-wrap:wrap;gap:.4rem .6rem;align-items:center;font-size:.82rem}
.post footer a{color:var(--soft);text-decoration:none}
.post footer a:hover{text-decoration:underline}
.badge{border:1px solid var(--line);border-radius:99px;padding:0 .55em;color:var(--soft)}
.alarm{border-color:var(--alarm);color:var(--alarm)}
.comments{margin-top:.6rem;border-top:1px solid var(--line);padding-top:.55rem;font-size:.9rem}
.comments p{margin:0 0 .35rem;font-size:.8rem;font-weight:600;color:var(--soft)}
.comments ul{list-style:none;margin:0;padding:0;display:grid;gap:.4rem}
.comments li{background:var(--code);border-radius:10px;padding:.45rem .7rem}
.comments small{display:block;color:var(--soft);font-size:.78rem}
.removed{border-style:dashed}
.removed footer,.removed .text,.removed .who strong,.removed .comments li{color:var(--soft)}
.removed .face,.removed .media,.removed .link img{filter:grayscale(1)}
.removal{margin:0 0 .8rem;padding:.45rem .7rem;background:var(--code);border-radius:10px;font-size:.85rem;color:var(--soft)}
.removal b{color:var(--alarm)}
.raw{margin-top:.5rem;border-top:1px solid var(--line);padding-top:.5rem;font-size:.8rem;color:var(--soft)}
.raw summary{cursor:pointer}
.raw dl{display:grid;grid-template-columns:auto 1fr;gap:.15rem .7rem;margin:.5rem 0 0}
.raw dd{margin:0;font-family:ui-monospace,SFMono-Regular,Menlo,monospace}
.helps{display:grid;gap:1rem;min-width:0}
.help{padding:1rem 1.1rem;font-size:.9rem;min-width:0}
.help h2{margin:0 0 .5rem;font-size:1rem}
.help h3{margin:1rem 0 0;font-size:.9rem;border-top:1px solid var(--line);padding-top:.7rem}
.help p{margin:.25rem 0 .75rem;color:var(--soft)}
.help dl{margin:0}
.help pre{margin:0 0 .75rem;padding:.6rem .7rem;background:var(--code);border-radius:10px;white-space:pre-wrap;font-size:.8rem}
.help pre code{background:none;padding:0}
.help summary{cursor:pointer;margin-top:.9rem;color:var(--soft)}
.help dt{margin-top:.55rem;font-weight:600}
.help dd{margin:.1rem 0 0;color:var(--soft)}
.help dd span{display:block}
.end{padding-top:1.5rem;padding-bottom:2.5rem;color:var(--soft);font-size:.85rem}
:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:4px}
`;
