/** Converts types, as the compiler knows them, to JSON Schemas. An alias with a name becomes a schema with that name. */
import {
  type Checker,
  SignatureKind,
  SymbolFlags,
  type Type,
  TypeFlags,
  type Symbol as TypeSymbol,
} from "typescript/unstable/sync";

export type Schema = Readonly<Record<string, unknown>>;

export class TypeSchemas {
  /** By name. */
  readonly named: Record<string, Schema> = {};
  readonly #names = new Map<string, number>();
  readonly #checker: Checker;

  constructor(checker: Checker) {
    this.#checker = checker;
  }

  /** @throws on a type that JSON has not, and when two types have one name */
  of(type: Type): Schema {
    const alias = type.getAliasSymbol();
    const isNamed =
      alias !== undefined &&
      (type.getAliasTypeArguments() ?? []).length === 0 &&
      /^[A-Z]/.test(alias.name) &&
      (type.flags & (TypeFlags.Object | TypeFlags.Union | TypeFlags.Intersection)) !== 0;
    return isNamed ? this.#reference(alias, type) : this.#inline(type);
  }

  #reference(alias: TypeSymbol, type: Type): Schema {
    const { name } = alias;
    const known = this.#names.get(name);
    if (known !== undefined && known !== alias.id)
      throw new Error(`two types of answers have the name ${name}: rename one`);
    if (known === undefined) {
      this.#names.set(name, alias.id);
      // Its place in the list stands before those of its parts.
      this.named[name] = {};
      const tags = alias.getJsDocTags(this.#checker);
      const notes = new Map(
        tags
          .filter((tag) => tag.name === "property")
          .map(({ text }) => {
            const [property = "", ...rest] = String(text ?? "").split(/\s+/);
            return [property, rest.join(" ")] as const;
          }),
      );
      this.named[name] = described(
        this.#eventUnion(name, type) ?? this.#inline(type, notes),
        alias.getDocumentationComment(this.#checker),
      );
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  #inline(type: Type, notes: ReadonlyMap<string, string> = new Map()): Schema {
    const { flags } = type;
    if (flags & (TypeFlags.Any | TypeFlags.Unknown)) return {};
    if (flags & TypeFlags.Null) return { type: "null" };
    if (type.isStringLiteralType() || type.isNumberLiteralType()) return { const: type.value };
    if (flags & TypeFlags.BooleanLiteral)
      return { type: "boolean", enum: [type.isBooleanLiteralType() && type.value] };
    if (flags & TypeFlags.Boolean) return { type: "boolean" };
    if (flags & (TypeFlags.String | TypeFlags.TemplateLiteral)) return { type: "string" };
    if (flags & TypeFlags.Number) return { type: "number" };
    if (type.isUnionType()) return this.#union(type.getTypes() ?? []);
    if (flags & (TypeFlags.Object | TypeFlags.Intersection)) return this.#object(type, notes);
    throw new Error(`no JSON has this type: ${this.#checker.typeToString(type)}`);
  }

  /** Each alternative of a union that `event` tells apart is a schema of its own, so that generators have a name for it. */
  #eventUnion(name: string, type: Type): Schema | undefined {
    if (!type.isUnionType()) return undefined;
    const mapping: Record<string, string> = {};
    for (const part of type.getTypes() ?? []) {
      const event = this.#checker.getPropertiesOfType(part).find((property) => property.name === "event");
      const of = event && this.#checker.getTypeOfSymbol(event);
      if (!of?.isStringLiteralType()) return undefined;
      const value = String(of.value);
      const partName = `${name}${(value[0] ?? "").toUpperCase()}${value.slice(1)}`;
      if (partName in this.named) throw new Error(`${name}: a second ${partName}`);
      this.named[partName] = this.#inline(part);
      mapping[value] = `#/components/schemas/${partName}`;
    }
    // The compiler's order of a type that is computed differs from run to run.
    const sorted = Object.fromEntries(Object.entries(mapping).sort(([a], [b]) => (a < b ? -1 : 1)));
    const oneOf = Object.values(sorted).map(($ref) => ({ $ref }));
    return { oneOf, discriminator: { propertyName: "event", mapping: sorted } };
  }

  #union(types: readonly Type[]): Schema {
    const parts = types.filter((type) => !(type.flags & TypeFlags.Undefined));
    const isBoolean = parts.filter((type) => type.flags & TypeFlags.BooleanLiteral).length === 2;
    const schemas = parts
      .filter((type) => !isBoolean || !(type.flags & TypeFlags.BooleanLiteral))
      .map((type) => this.of(type));
    if (isBoolean) schemas.push({ type: "boolean" });
    const values = schemas.filter((schema) => "const" in schema).map((schema) => schema.const);
    const others = schemas.filter((schema) => !("const" in schema));
    if (values.length > 1) others.push({ type: typeof values[0], enum: values });
    else if (values.length === 1) others.push({ const: values[0] });
    // Null comes last, so that readers see the type first.
    others.sort((a, b) => Number(a.type === "null") - Number(b.type === "null"));
    return others.length === 1 && others[0] ? others[0] : { anyOf: others };
  }

  #object(type: Type, notes: ReadonlyMap<string, string>): Schema {
    const checker = this.#checker;
    if (checker.isArrayType(type) && type.isTypeReference())
      return { type: "array", items: this.of(checker.getTypeArguments(type)[0] as Type) };
    if (type.isTupleType() || checker.isTupleType(type)) {
      const items = checker.getTypeArguments(type as never).map((item) => this.of(item));
      return { type: "array", prefixItems: items, minItems: items.length, maxItems: items.length };
    }
    if (type.getSymbol()?.name === "Blob") return { type: "string", format: "binary" };
    if (checker.getSignaturesOfType(type, SignatureKind.Call).length > 0)
      throw new Error(`no JSON has a function: ${checker.typeToString(type)}`);
    const properties: Record<string, Schema> = {};
    const required: string[] = [];
    for (const property of checker.getPropertiesOfType(type)) {
      const of = checker.getTypeOfSymbol(property);
      if (!of || of.flags & TypeFlags.Never) continue;
      if (of.flags & TypeFlags.Undefined) continue;
      const notice = property.getDocumentationComment(checker) || notes.get(property.name);
      properties[property.name] = described(this.of(of), notice);
      const mayMiss =
        property.flags & SymbolFlags.Optional ||
        (of.isUnionType() && of.getTypes()?.some((part) => part.flags & TypeFlags.Undefined));
      if (!mayMiss) required.push(property.name);
    }
    const [index] = checker.getIndexInfosOfType(type);
    // `Record<string, never>` is an object without properties.
    const rest = index && !(index.valueType.flags & TypeFlags.Never) && this.of(index.valueType);
    return {
      type: "object",
      ...(Object.keys(properties).length > 0 && { properties }),
      ...(required.length > 0 && { required }),
      ...(rest && { additionalProperties: Object.keys(rest).length === 0 ? true : rest }),
    };
  }
}

/** @param text absent or empty: there is nothing to add */
function described(schema: Schema, text: string | undefined): Schema {
  const words = text?.replace(/\s+/g, " ").trim();
  return words ? { ...schema, description: words } : schema;
}
