/**
 * Reads from the Worker's sources what is known of an operation only at build time: the comments of its declaration, and the
 * types of its answers.
 */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  getLeadingCommentRanges,
  isArrayLiteralExpression,
  isCallExpression,
  isIdentifier,
  isObjectLiteralExpression,
  isPropertyAssignment,
  isShorthandPropertyAssignment,
  isSpreadAssignment,
  isStringLiteral,
  isVariableStatement,
  type Node,
  type SourceFile,
} from "typescript/unstable/ast";
import { API, type Checker, SignatureKind, SymbolFlags, type Type } from "typescript/unstable/sync";
import { type Schema, TypeSchemas } from "./type-schema.ts";

const CONFIG = fileURLToPath(new URL("../../worker/tsconfig.json", import.meta.url));

export type AnswerOf = { status: number; type: string; schema: Schema | undefined };
/** The comments on the properties of an object; `of`: on the properties of that property. */
export type Notes = { [property: string]: { text?: string; of?: Notes } };
export type Declaration = { text: string; answers: AnswerOf[]; notes: Notes };

/** @returns the declarations by `METHOD /path`, and the schemas that they name */
export function readDeclarations(): {
  declarations: Map<string, Declaration>;
  schemas: Record<string, Schema>;
} {
  const api = new API();
  try {
    const project = api.updateSnapshot({ openProjects: [CONFIG] }).getProject(CONFIG);
    if (!project) throw new Error(`no project: ${CONFIG}`);
    const reader = new Reader(project.checker);
    for (const path of project.rootFiles) {
      const source = project.program.getSourceFile(path);
      if (source) reader.read(source);
    }
    return { declarations: reader.declarations, schemas: reader.schemas.named };
  } finally {
    api.close();
  }
}

class Reader {
  readonly declarations = new Map<string, Declaration>();
  readonly schemas: TypeSchemas;
  readonly #checker: Checker;
  readonly #notes: NoteReader;

  constructor(checker: Checker) {
    this.#checker = checker;
    this.#notes = new NoteReader(checker);
    this.schemas = new TypeSchemas(checker);
  }

  read(source: SourceFile): void {
    const text = source.text;
    if (!/\broute\(/.test(text)) return;
    for (const statement of source.statements) this.#find(statement, statement, text);
  }

  #find(node: Node, statement: Node, text: string): void {
    if (isCallExpression(node) && isIdentifier(node.expression) && node.expression.text === "route") {
      const [, operation, spec, handler] = node.arguments;
      if (!operation || !isStringLiteral(operation) || !spec || !handler) return;
      if (this.declarations.has(operation.text)) throw new Error(`declared twice: ${operation.text}`);
      try {
        this.declarations.set(operation.text, {
          text: commentOf(statement, text),
          answers: this.#answers(handler),
          notes: this.#notes.read(spec),
        });
      } catch (error) {
        throw new Error(`${operation.text}: ${error instanceof Error ? error.message : error}`);
      }
      return;
    }
    node.forEachChild((child) => {
      this.#find(child, statement, text);
    });
  }

  #answers(handler: Node): AnswerOf[] {
    const checker = this.#checker;
    const type = checker.getTypeAtLocation(handler);
    const [signature] = type ? checker.getSignaturesOfType(type, SignatureKind.Call) : [];
    const returned = signature && checker.getReturnTypeOfSignature(signature);
    if (!returned) throw new Error("the handler has no type");
    const isPromise = returned.isTypeReference() && returned.getSymbol()?.name === "Promise";
    const awaited = isPromise ? checker.getTypeArguments(returned)[0] : returned;
    return this.#parts(awaited).flatMap((answer) => {
      const of = answer.isTypeReference() ? checker.getTypeArguments(answer) : [];
      if (answer.getSymbol()?.name !== "Answer" || of.length < 3)
        throw new Error(`answers with ${checker.typeToString(answer)}: use json(), nothing() or as()`);
      const [value, status, media] = of as [Type, Type, Type];
      const statuses = this.#parts(status).map((one) => (one.isNumberLiteralType() ? one.value : 0));
      const type = media.isStringLiteralType() ? media.value : "";
      if (statuses.includes(0) || type === "") throw new Error("status and media type have to be literals");
      const isEmpty = checker.typeToString(value) === "undefined";
      const schema = isEmpty ? undefined : this.schemas.of(value);
      return statuses.map((status) => ({ status, type, schema }));
    });
  }

  #parts(type: Type | undefined): readonly Type[] {
    if (!type) return [];
    return type.isUnionType() ? (type.getTypes() ?? []) : [type];
  }
}

/** A schema that a module exports: its comment, those on its fields, and those of the schemas that it joins. */
export type Documented = { text: string; notes: Notes; members: readonly { text: string; notes: Notes }[] };

/** @param paths of modules, beside the project's file @returns by the name of each exported constant that a call makes */
export function readDocumented(config: string, paths: readonly string[]): Map<string, Documented> {
  const found = new Map<string, Documented>();
  const api = new API();
  try {
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    if (!project) throw new Error(`no project: ${config}`);
    for (const path of paths) {
      const source = project.program.getSourceFile(join(dirname(config), path));
      if (!source) throw new Error(`no source: ${path}`);
      const reader = new NoteReader(project.checker);
      for (const statement of source.statements) {
        if (!isVariableStatement(statement)) continue;
        const [declaration] = statement.declarationList.declarations;
        const made = declaration?.initializer;
        if (!declaration || !made || !isIdentifier(declaration.name) || !isCallExpression(made)) continue;
        const list = made.arguments.find(isArrayLiteralExpression);
        found.set(declaration.name.text, {
          text: commentOf(statement, source.text),
          notes: list ? {} : reader.read(made),
          members: (list?.elements ?? []).map((element) => ({
            text: commentOf(element, source.text),
            notes: reader.read(element),
          })),
        });
      }
    }
  } finally {
    api.close();
  }
  return found;
}

/** Reads the comments on the properties of an object literal. */
class NoteReader {
  readonly #checker: Checker;

  constructor(checker: Checker) {
    this.#checker = checker;
  }

  /** Of an object literal, also behind a name, a spread or a call such as `z.strictObject({…})`. */
  read(node: Node | undefined): Notes {
    if (!node) return {};
    if (isIdentifier(node)) return this.read(this.#valueOf(node));
    if (isCallExpression(node)) return Object.assign({}, ...node.arguments.map((one) => this.read(one)));
    if ("expression" in node && !isObjectLiteralExpression(node)) return this.read(node.expression as Node);
    if (!isObjectLiteralExpression(node)) return {};
    const notes: Notes = {};
    for (const property of node.properties) {
      if (isSpreadAssignment(property)) Object.assign(notes, this.read(property.expression));
      const isNamed = isPropertyAssignment(property) || isShorthandPropertyAssignment(property);
      if (!isNamed) continue;
      const name = "text" in property.name ? String(property.name.text) : "";
      const value = isPropertyAssignment(property) ? property.initializer : this.#valueOf(property.name);
      const text = commentOf(property, property.getSourceFile().text);
      const of = this.read(value);
      notes[name] = { ...(text && { text }), ...(Object.keys(of).length > 0 && { of }) };
    }
    return notes;
  }

  /** The initializer of a constant, also of one that is imported. */
  #valueOf(name: Node): Node | undefined {
    const symbol = this.#checker.getSymbolAtLocation(name);
    // An alias of an import has no value of its own.
    const isAlias = symbol !== undefined && (symbol.flags & SymbolFlags.Alias) !== 0;
    const target = isAlias ? this.#checker.getAliasedSymbol(symbol) : symbol;
    const declaration = target?.valueDeclaration?.resolve();
    return declaration && "initializer" in declaration ? (declaration.initializer as Node) : undefined;
  }
}

/** The text of the last comment of the form `/** … * /` before a node. */
function commentOf(node: Node, source: string): string {
  const comments = (getLeadingCommentRanges(source, node.pos) ?? []).map(({ pos, end }) =>
    source.slice(pos, end),
  );
  const last = comments.findLast((comment) => comment.startsWith("/**")) ?? "";
  return last
    .replace(/^\/\*\*|\*\/$/g, "")
    .replace(/^\s*\*\s?/gm, "")
    .replace(/\s+/g, " ")
    .trim();
}
