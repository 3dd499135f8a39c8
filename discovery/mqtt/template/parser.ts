/** Reads the tokens of a template into statements and expressions, with Jinja's precedence. */
import { TemplateBudget, TemplateProblem } from "./budget.ts";
import { TESTS } from "./checks.ts";
import { FILTERS } from "./filters.ts";
import { FUNCTIONS } from "./functions.ts";
import { METHODS } from "./methods.ts";
import type { Operator } from "./numbers.ts";
import { type NameKind, unknownNameText } from "./refused.ts";
import type { Token } from "./tokens.ts";
import type { Value } from "./values.ts";

type CallValues = Pick<Call, "positional" | "named">;

/** The value of a method, filter or test is the first of the positional ones. */
export type Call = {
  kind: NameKind;
  name: string;
  /** The template's own macro of this name is called. */
  isMacro?: true;
  positional: Expression[];
  named: Array<readonly [string, Expression]>;
};

export type Expression =
  | { kind: "constant"; value: Value }
  | { kind: "name"; name: string }
  | { kind: "list" | "tuple"; items: Expression[] }
  | { kind: "dict"; pairs: Array<readonly [Expression, Expression]> }
  | { kind: "member"; of: Expression; name: string }
  | { kind: "item"; of: Expression; key: Expression }
  | { kind: "slice"; of: Expression; bounds: Array<Expression | undefined> }
  | Call
  | { kind: "captured" }
  | { kind: "not" | "minus" | "plus"; of: Expression }
  | { kind: "and" | "or"; left: Expression; right: Expression }
  | { kind: "calculate"; operator: Operator; left: Expression; right: Expression }
  | { kind: "compare"; first: Expression; rest: Array<readonly [string, Expression]> }
  | { kind: "concat"; items: Expression[] }
  | { kind: "choice"; condition: Expression; then: Expression; otherwise: Expression | undefined };

/** The names that `set` and `for` assign to, or the member of a namespace. */
export type Target = { names: string[]; isTuple: boolean; member?: string };

export type Statement =
  | { kind: "text"; text: string }
  | { kind: "print"; value: Expression }
  | { kind: "set"; target: Target; value: Expression }
  /** The text of a body as a value: `{% set x | trim %}…{% endset %}`, or printed by `{% filter trim %}`. */
  | { kind: "capture"; target: Target | undefined; body: Statement[]; value: Expression }
  | { kind: "with"; sets: Array<readonly [string, Expression]>; body: Statement[] }
  | { kind: "do"; value: Expression }
  | { kind: "leave"; how: "break" | "continue" }
  | {
      kind: "macro";
      name: string;
      parameters: Array<readonly [string, Expression | undefined]>;
      body: Statement[];
    }
  | { kind: "if"; cases: Array<{ condition: Expression; body: Statement[] }>; otherwise: Statement[] }
  | {
      kind: "for";
      target: Target;
      over: Expression;
      condition: Expression | undefined;
      body: Statement[];
      otherwise: Statement[];
    };

const CONSTANTS: ReadonlyMap<string, Value> = new Map([
  ["true", true],
  ["True", true],
  ["false", false],
  ["False", false],
  ["none", null],
  ["None", null],
]);
const COMPARISONS = ["==", "!=", "<", "<=", ">", ">="];

/** Throws a TemplateProblem that says what is wrong. */
export function parseTemplate(tokens: readonly Token[]): Statement[] {
  return new TemplateParser(tokens).body([]);
}

class TemplateParser {
  readonly #tokens: readonly Token[];
  readonly #budget = new TemplateBudget();
  readonly #macros: ReadonlySet<string>;
  #loops = 0;
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
    const isMacro = (_: Token, at: number) =>
      tokens[at - 1]?.text === "macro" && tokens[at - 1]?.kind === "name" && tokens[at - 2]?.kind === "{%";
    this.#macros = new Set(tokens.filter(isMacro).map(({ text }) => text));
  }

  /** Reads until one of these tags, whose name is then the current token. */
  body(ends: readonly string[]): Statement[] {
    const statements: Statement[] = [];
    for (;;) {
      const token = this.#next();
      if (token.kind === "text") statements.push({ kind: "text", text: token.text });
      else if (token.kind === "{{") {
        statements.push({ kind: "print", value: this.#tuple() });
        this.#expect("}}");
      } else if (token.kind === "{%") {
        if (ends.some((end) => this.#nextIs(end))) return statements;
        statements.push(this.#budget.deeper(() => this.#statement()));
        this.#expect("%}");
      } else if (ends.length === 0) return statements;
      else throw new TemplateProblem(`ends where {% ${ends.join(" %} or {% ")} %} would be right`);
    }
  }

  get #current(): Token {
    return this.#tokens[this.#at] ?? { kind: "end", text: "the end" };
  }

  #next(): Token {
    const token = this.#current;
    this.#at += 1;
    return token;
  }

  #nextIs(text: string, ahead = 0): boolean {
    const token = this.#tokens[this.#at + ahead];
    return token?.text === text && token.kind !== "string" && token.kind !== "text";
  }

  #skip(text: string): boolean {
    const is = this.#nextIs(text);
    if (is) this.#at += 1;
    return is;
  }

  #expect(text: string): void {
    if (!this.#skip(text)) throw this.#unexpected(JSON.stringify(text));
  }

  #name(): string {
    if (this.#current.kind !== "name") throw this.#unexpected("a name");
    return this.#next().text;
  }

  #unexpected(right: string): TemplateProblem {
    return new TemplateProblem(`has ${JSON.stringify(this.#current.text)} where ${right} would be right`);
  }

  #statement(): Statement {
    const tag = this.#name();
    if (tag === "set") return this.#set();
    if (tag === "if") return this.#if();
    if (tag === "for") return this.#forStatement();
    if (tag === "with") return this.#with();
    if (tag === "macro") return this.#macro();
    if (tag === "filter") return this.#filterBlock();
    if (tag === "do") return { kind: "do", value: this.#tuple() };
    if ((tag === "break" || tag === "continue") && this.#loops > 0) return { kind: "leave", how: tag };
    throw new TemplateProblem(unknownNameText("tag", tag));
  }

  /** The rest of a tag, then what is between it and the end. */
  #block(ends: readonly string[]): Statement[] {
    this.#expect("%}");
    return this.body(ends);
  }

  #set(): Statement {
    const target = this.#target();
    if (this.#skip("=")) return { kind: "set", target, value: this.#tuple() };
    const value = this.#filters({ kind: "captured" });
    if (target.isTuple || !this.#nextIs("%}")) throw this.#unexpected('"="');
    const body = this.#block(["endset"]);
    this.#next();
    return { kind: "capture", target, body, value };
  }

  #filterBlock(): Statement {
    const name = this.#name();
    const first: Expression = { kind: "captured" };
    const values = this.#nextIs("(") ? this.#arguments(first) : { positional: [first], named: [] };
    const value = this.#filters(this.#known("filter", name, FILTERS, values));
    const body = this.#block(["endfilter"]);
    this.#next();
    return { kind: "capture", target: undefined, body, value };
  }

  #with(): Statement {
    const sets: Array<readonly [string, Expression]> = [];
    while (!this.#nextIs("%}")) {
      if (sets.length > 0) this.#expect(",");
      const name = this.#name();
      this.#expect("=");
      sets.push([name, this.#expression()]);
    }
    const body = this.#block(["endwith"]);
    this.#next();
    return { kind: "with", sets, body };
  }

  #macro(): Statement {
    const name = this.#name();
    this.#expect("(");
    const parameters = this.#until(")", () => {
      const parameter = this.#name();
      return [parameter, this.#skip("=") ? this.#expression() : undefined] as const;
    });
    const loops = this.#loops;
    this.#loops = 0;
    const body = this.#block(["endmacro"]);
    this.#loops = loops;
    this.#next();
    return { kind: "macro", name, parameters, body };
  }

  #if(): Statement {
    const cases = [{ condition: this.#tuple(false), body: this.#block(["elif", "else", "endif"]) }];
    while (this.#skip("elif"))
      cases.push({ condition: this.#tuple(false), body: this.#block(["elif", "else", "endif"]) });
    const otherwise = this.#skip("else") ? this.#block(["endif"]) : [];
    this.#next();
    return { kind: "if", cases, otherwise };
  }

  #forStatement(): Statement {
    const target = this.#target();
    this.#expect("in");
    const over = this.#tuple(false);
    const condition = this.#skip("if") ? this.#expression() : undefined;
    if (this.#nextIs("recursive"))
      throw new TemplateProblem('has a loop that is "recursive", which is not offered');
    this.#loops += 1;
    const body = this.#block(["endfor", "else"]);
    this.#loops -= 1;
    const otherwise = this.#skip("else") ? this.#block(["endfor"]) : [];
    this.#next();
    return { kind: "for", target, over, condition, body, otherwise };
  }

  #target(): Target {
    const isBracketed = this.#skip("(");
    const names = [this.#name()];
    if (this.#skip(".")) return { names, isTuple: false, member: this.#name() };
    let isTuple = false;
    while (this.#skip(",")) {
      isTuple = true;
      if (this.#current.kind === "name" && !this.#nextIs("in")) names.push(this.#name());
    }
    if (isBracketed) this.#expect(")");
    const fixed = names.find((name) => CONSTANTS.has(name));
    if (fixed !== undefined) throw new TemplateProblem(`assigns to "${fixed}"`);
    return { names, isTuple };
  }

  /** One expression, or several with commas, which are a tuple. */
  #tuple(withChoice = true): Expression {
    const first = this.#expression(withChoice);
    if (!this.#nextIs(",")) return first;
    const items = [first];
    while (this.#skip(",") && !this.#endsTuple()) items.push(this.#expression(withChoice));
    return { kind: "tuple", items };
  }

  #endsTuple(): boolean {
    return ["}}", "%}", ")"].some((end) => this.#nextIs(end));
  }

  #expression(withChoice = true): Expression {
    return this.#budget.deeper(() => (withChoice ? this.#choice() : this.#or()));
  }

  #choice(): Expression {
    let then = this.#or();
    while (this.#skip("if")) {
      const condition = this.#or();
      const otherwise = this.#skip("else") ? this.#expression() : undefined;
      then = { kind: "choice", condition, then, otherwise };
    }
    return then;
  }

  #or(): Expression {
    let left = this.#and();
    while (this.#skip("or")) left = { kind: "or", left, right: this.#and() };
    return left;
  }

  #and(): Expression {
    let left = this.#not();
    while (this.#skip("and")) left = { kind: "and", left, right: this.#not() };
    return left;
  }

  #not(): Expression {
    if (this.#skip("not")) return { kind: "not", of: this.#budget.deeper(() => this.#not()) };
    return this.#compare();
  }

  #compare(): Expression {
    const first = this.#sum();
    const rest: Array<readonly [string, Expression]> = [];
    for (;;) {
      const isNotIn = this.#nextIs("not") && this.#nextIs("in", 1);
      const operator = isNotIn ? "not in" : [...COMPARISONS, "in"].find((one) => this.#nextIs(one));
      if (operator === undefined) return rest.length === 0 ? first : { kind: "compare", first, rest };
      this.#at += isNotIn ? 2 : 1;
      rest.push([operator, this.#sum()]);
    }
  }

  #sum(): Expression {
    return this.#calculate(["+", "-"], () => this.#concat());
  }

  #calculate(operators: readonly Operator[], operand: () => Expression): Expression {
    let left = operand();
    for (;;) {
      const operator = operators.find((one) => this.#nextIs(one));
      if (operator === undefined) return left;
      this.#at += 1;
      left = { kind: "calculate", operator, left, right: operand() };
    }
  }

  #concat(): Expression {
    const items = [this.#product()];
    while (this.#skip("~")) items.push(this.#product());
    return items.length === 1 && items[0] ? items[0] : { kind: "concat", items };
  }

  #product(): Expression {
    return this.#calculate(["*", "/", "//", "%"], () => this.#calculate(["**"], () => this.#unary(true)));
  }

  #unary(withFilters: boolean): Expression {
    const sign = this.#skip("-") ? "minus" : this.#skip("+") ? "plus" : undefined;
    const of = sign ? this.#budget.deeper(() => this.#unary(false)) : this.#primary();
    const value = this.#postfix(sign ? { kind: sign, of } : of);
    return withFilters ? this.#filters(value) : value;
  }

  #primary(): Expression {
    const token = this.#next();
    if (token.kind === "name") {
      const value = CONSTANTS.get(token.text);
      return value === undefined ? { kind: "name", name: token.text } : { kind: "constant", value };
    }
    if (token.kind === "string") {
      let text = token.text;
      while (this.#current.kind === "string") text += this.#next().text;
      return { kind: "constant", value: text };
    }
    if (token.kind === "int") return { kind: "constant", value: wholeNumber(token.text) };
    if (token.kind === "float") return { kind: "constant", value: Number(token.text.replaceAll("_", "")) };
    if (token.kind === "operator") {
      if (token.text === "(") return this.#bracketed();
      if (token.text === "[") return { kind: "list", items: this.#until("]", () => this.#expression()) };
      if (token.text === "{") return { kind: "dict", pairs: this.#until("}", () => this.#pair()) };
    }
    this.#at -= 1;
    throw this.#unexpected("a value");
  }

  #bracketed(): Expression {
    if (this.#skip(")")) return { kind: "tuple", items: [] };
    const value = this.#tuple();
    this.#expect(")");
    return value;
  }

  #pair(): readonly [Expression, Expression] {
    const key = this.#expression();
    this.#expect(":");
    return [key, this.#expression()];
  }

  /** Items with commas; the last one may have a comma too. */
  #until<Item>(end: string, item: () => Item): Item[] {
    const items: Item[] = [];
    while (!this.#skip(end)) {
      if (items.length > 0) {
        this.#expect(",");
        if (this.#skip(end)) break;
      }
      items.push(item());
    }
    return items;
  }

  #postfix(start: Expression): Expression {
    let of = start;
    for (;;) {
      if (this.#skip(".")) {
        const token = this.#next();
        if (token.kind === "int")
          of = { kind: "item", of, key: { kind: "constant", value: wholeNumber(token.text) } };
        else if (token.kind === "name") of = { kind: "member", of, name: token.text };
        else
          throw new TemplateProblem(`has ${JSON.stringify(token.text)} where a member's name would be right`);
      } else if (this.#skip("[")) of = this.#subscript(of);
      else if (this.#nextIs("(")) of = this.#call(of);
      else return of;
    }
  }

  #subscript(of: Expression): Expression {
    const bounds = [this.#bound()];
    while (bounds.length < 3 && this.#skip(":")) bounds.push(this.#bound());
    this.#expect("]");
    const [key] = bounds;
    if (bounds.length > 1) return { kind: "slice", of, bounds };
    if (!key) throw this.#unexpected("an index");
    return { kind: "item", of, key };
  }

  #bound(): Expression | undefined {
    return this.#nextIs(":") || this.#nextIs("]") ? undefined : this.#expression();
  }

  #call(callee: Expression): Expression {
    if (callee.kind === "name" && this.#macros.has(callee.name))
      return { kind: "function", name: callee.name, isMacro: true, ...this.#arguments() };
    if (callee.kind === "name") return this.#known("function", callee.name, FUNCTIONS, this.#arguments());
    if (callee.kind !== "member") throw new TemplateProblem("calls what is neither a function nor a method");
    return this.#known("method", callee.name, METHODS, this.#arguments(callee.of));
  }

  #known(
    kind: Call["kind"],
    name: string,
    names: ReadonlyMap<string, unknown>,
    values: CallValues,
  ): Expression {
    if (!names.has(name)) throw new TemplateProblem(unknownNameText(kind, name));
    return { kind, name, ...values };
  }

  #arguments(...positional: Expression[]): CallValues {
    const named: Array<readonly [string, Expression]> = [];
    this.#expect("(");
    this.#until(")", () => {
      if (this.#current.kind === "name" && this.#nextIs("=", 1)) {
        const name = this.#name();
        this.#expect("=");
        named.push([name, this.#expression()]);
      } else if (named.length > 0) throw this.#unexpected("a parameter with a name");
      else positional.push(this.#expression());
    });
    return { positional, named };
  }

  #filters(start: Expression): Expression {
    let of = start;
    for (;;) {
      if (this.#skip("|")) {
        const name = this.#name();
        const values = this.#nextIs("(") ? this.#arguments(of) : { positional: [of], named: [] };
        of = this.#known("filter", name, FILTERS, values);
      } else if (this.#skip("is")) of = this.#test(of);
      else return of;
    }
  }

  #test(of: Expression): Expression {
    const isNegated = this.#skip("not");
    const name = this.#name();
    const test = this.#known("test", name, TESTS, this.#testArguments(of));
    return isNegated ? { kind: "not", of: test } : test;
  }

  /** One value may stand without brackets: `is eq 3`. */
  #testArguments(of: Expression): CallValues {
    if (this.#nextIs("(")) return this.#arguments(of);
    const isEnd = ["else", "or", "and"].some((word) => this.#nextIs(word));
    const isValue =
      ["name", "string", "int", "float"].includes(this.#current.kind) ||
      this.#nextIs("[") ||
      this.#nextIs("{");
    if (isEnd || !isValue) return { positional: [of], named: [] };
    if (this.#nextIs("is")) throw this.#unexpected("only one test");
    return { positional: [of, this.#postfix(this.#primary())], named: [] };
  }
}

function wholeNumber(text: string): bigint {
  const digits = text.replaceAll("_", "");
  if (digits.length > 300) throw new TemplateProblem("has a number that is too large");
  return BigInt(digits);
}
