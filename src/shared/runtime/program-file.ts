/**
 * Returns where a program that the app starts beside itself lies: beside the module that asks, in the sources; in a
 * build, beside the bundle, of which the module is in a part, a folder below. `moduleUrl`: `import.meta.url` of the
 * module; `name`: of the program's file, without its ending, as an entry of the build.
 */
export function programFile(moduleUrl: string, name: string): URL {
  if (moduleUrl.endsWith(".ts")) return new URL(`./${name}.ts`, moduleUrl);
  const isPart = /\/parts\/[^/]+$/.test(moduleUrl);
  return new URL(`${isPart ? "../" : "./"}${name}.js`, moduleUrl);
}
