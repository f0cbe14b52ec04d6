import { resolve } from "node:path";
import ts from "typescript";

/** Files that declare groups: a field of such a type counts as what the group holds. */
const GROUPS = /\/(?:deps|stores)\.ts$/;

/**
 * Returns what each interface named `…Deps` takes of the process: a field that is another one's deps, or groups others,
 * counts as what it holds, once. Functions that are grouped are one: the verbs of a module.
 */
export function depsLeavesOf(program: ts.Program, root: string): ReadonlyMap<string, number> {
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
  const found = new Map<string, number>();
  for (const file of program.getRootFileNames()) {
    if (!file.startsWith(resolve(root, "src/shared"))) continue;
    for (const node of program.getSourceFile(file)?.statements ?? []) {
      if (!ts.isInterfaceDeclaration(node) || !node.name.text.endsWith("Deps")) continue;
      const type = checker.getTypeAtLocation(node);
      found.set(node.name.text, collect(type.getProperties(), new Set()).size);
    }
  }
  return found;
}
