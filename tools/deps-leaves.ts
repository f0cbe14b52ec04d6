import { resolve } from "node:path";
import ts from "typescript";

/** Files that declare groups: a field of such a type counts as what the group holds. */
const GROUPS = /\/(?:deps|stores)\.ts$/;

/** What an interface named `…Deps` takes of the process. */
export interface DepsSize {
  readonly fields: number;
  /** What its fields hold, each once: another one's deps and groups of fields count as what they hold. */
  readonly leaves: number;
}

/** Returns the size of each interface named `…Deps`. Functions that are grouped are one leaf: the verbs of a module. */
export function depsSizesOf(program: ts.Program, root: string): ReadonlyMap<string, DepsSize> {
  const checker = program.getTypeChecker();
  const isFunction = (type: ts.Type) => type.getCallSignatures().length > 0;
  const fieldsOf = (field: ts.Symbol): readonly ts.Symbol[] => {
    const type = checker.getTypeOfSymbol(field);
    const parts = type.isIntersection() ? type.types : [type];
    const isGroup = parts.some(({ symbol }) =>
      GROUPS.test(symbol?.declarations?.[0]?.getSourceFile().fileName ?? ""),
    );
    const fields = isGroup ? type.getProperties() : [];
    return fields.every((one) => isFunction(checker.getTypeOfSymbol(one))) ? [] : fields;
  };
  const collect = (fields: readonly ts.Symbol[], leaves: Set<string>) => {
    for (const field of fields) {
      const held = fieldsOf(field);
      if (held.length > 0) collect(held, leaves);
      else leaves.add(`${field.name}: ${checker.typeToString(checker.getTypeOfSymbol(field))}`);
    }
    return leaves;
  };
  const found = new Map<string, DepsSize>();
  for (const file of program.getRootFileNames()) {
    if (!file.startsWith(resolve(root, "src/shared"))) continue;
    for (const node of program.getSourceFile(file)?.statements ?? []) {
      if (!ts.isInterfaceDeclaration(node) || !node.name.text.endsWith("Deps")) continue;
      const fields = checker.getTypeAtLocation(node).getProperties();
      const leaves = collect(fields, new Set()).size;
      found.set(node.name.text, { fields: fields.length, leaves });
    }
  }
  return found;
}
