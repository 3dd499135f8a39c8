/** Renders the statements of a template. */
import { TemplateProblem } from "./budget.ts";
import { contains, itemsOf, type Run } from "./calls.ts";
import { TESTS } from "./checks.ts";
import { FILTERS } from "./filters.ts";
import { CONSTANTS, FUNCTIONS } from "./functions.ts";
import { dictOf, dictOfKeys } from "./lists.ts";
import { itemOf, memberOf } from "./members.ts";
import { joined, METHODS, sliceOf } from "./methods.ts";
import { calculate, signed } from "./numbers.ts";
import type { Call, Expression, Statement, Target } from "./parser.ts";
import { unknownNameText } from "./refused.ts";
import {
  compare,
  Dict,
  isEqual,
  isTrue,
  Macro,
  Members,
  Missing,
  Tuple,
  textOf,
  type Value,
} from "./values.ts";

const BUILTINS = { function: FUNCTIONS, method: METHODS, filter: FILTERS, test: TESTS };

/** The variables of a template, a loop's body within those around it. */
type Scope = { variables: Map<string, Value>; outer: Scope | undefined };

export function renderStatements(
  run: Run,
  statements: readonly Statement[],
  variables: Map<string, Value>,
): string {
  const rendering = new Rendering(run);
  rendering.all(statements, { variables, outer: undefined });
  return rendering.text();
}

class Rendering {
  readonly #run: Run;
  #parts: string[] = [];
  /** The text of the body that is a value. */
  #captured: Value = "";
  /** How the loop that runs is left. */
  #leaving: "break" | "continue" | undefined;
  #loops = 0;

  constructor(run: Run) {
    this.#run = run;
  }

  text(): string {
    return joined(this.#run, this.#parts, "");
  }

  all(statements: readonly Statement[], scope: Scope): void {
    for (const statement of statements) {
      this.#run.budget.spend();
      this.#run.budget.deeper(() => this.#one(statement, scope));
      if (this.#leaving) return;
    }
  }

  #one(statement: Statement, scope: Scope): void {
    switch (statement.kind) {
      case "text":
        this.#print(statement.text);
        return;
      case "print":
        this.#print(textOf(this.#value(statement.value, scope), this.#run.budget));
        return;
      case "set":
        this.#assign(statement.target, this.#value(statement.value, scope), scope);
        return;
      case "if": {
        const met = statement.cases.find(({ condition }) => isTrue(this.#value(condition, scope)));
        this.all(met?.body ?? statement.otherwise, scope);
        return;
      }
      case "for":
        this.#loop(statement, scope);
        return;
      case "capture": {
        this.#captured = this.#textOf(() => this.all(statement.body, { variables: new Map(), outer: scope }));
        const value = this.#value(statement.value, scope);
        if (statement.target) this.#assign(statement.target, value, scope);
        else this.#print(textOf(value, this.#run.budget));
        return;
      }
      case "with": {
        const values = statement.sets.map(([name, value]) => [name, this.#value(value, scope)] as const);
        this.all(statement.body, { variables: new Map(values), outer: scope });
        return;
      }
      case "do":
        this.#value(statement.value, scope);
        return;
      case "leave":
        this.#leaving = statement.how;
        return;
      case "macro":
        scope.variables.set(statement.name, this.#macro(statement, scope));
        return;
    }
  }

  /** What is printed meanwhile, as a text of its own. */
  #textOf(print: () => void): string {
    const outer = this.#parts;
    this.#parts = [];
    print();
    const text = this.text();
    this.#parts = outer;
    return text;
  }

  #macro({ name, parameters, body }: Statement & { kind: "macro" }, scope: Scope): Macro {
    return new Macro(name, (positional, named) => {
      const strange = [...named.keys()].find((one) => !parameters.some(([name]) => name === one));
      if (positional.length > parameters.length || strange !== undefined)
        throw new TemplateProblem(`gives the macro "${name}" more values than it takes`);
      const inner: Scope = { variables: new Map(), outer: scope };
      for (const [at, [parameter, byDefault]] of parameters.entries()) {
        const given = positional[at] ?? (positional[at] === null ? null : named.get(parameter));
        const missing = new Missing(`the parameter "${parameter}"`);
        inner.variables.set(
          parameter,
          given ?? (given === null ? null : byDefault ? this.#value(byDefault, inner) : missing),
        );
      }
      return this.#textOf(() => this.all(body, inner));
    });
  }

  #print(text: string): void {
    this.#parts.push(this.#run.budget.text(text));
  }

  #assign({ names, isTuple, member }: Target, value: Value, scope: Scope): void {
    const [name = ""] = names;
    if (member !== undefined) {
      const namespace = this.#variable(name, scope);
      if (!(namespace instanceof Members))
        throw new TemplateProblem(`assigns to a member of "${name}", which is no namespace`);
      namespace.set(member, value);
    } else if (!isTuple) scope.variables.set(name, value);
    else {
      const items = itemsOf(this.#run, value);
      if (items.length !== names.length)
        throw new TemplateProblem(`assigns ${items.length} values to ${names.length} names`);
      for (const [at, name] of names.entries()) scope.variables.set(name, items[at] ?? null);
    }
  }

  #loop(loop: Statement & { kind: "for" }, scope: Scope): void {
    let items = itemsOf(this.#run, this.#value(loop.over, scope));
    const inner = (item: Value): Scope => {
      this.#run.budget.spend();
      const made: Scope = { variables: new Map(), outer: scope };
      this.#assign(loop.target, item, made);
      return made;
    };
    const { condition } = loop;
    if (condition) items = items.filter((item) => isTrue(this.#value(condition, inner(item))));
    this.#loops += 1;
    for (const [at, item] of items.entries()) {
      const made = inner(item);
      made.variables.set("loop", loopMembers(at, items, this.#loops));
      this.all(loop.body, made);
      const isOver = this.#leaving === "break";
      this.#leaving = undefined;
      if (isOver) break;
    }
    this.#loops -= 1;
    if (items.length === 0) this.all(loop.otherwise, scope);
  }

  #variable(name: string, scope: Scope): Value {
    for (let at: Scope | undefined = scope; at; at = at.outer) {
      const value = at.variables.get(name);
      if (value !== undefined) return value;
    }
    return CONSTANTS.get(name) ?? new Missing(`the variable "${name}"`);
  }

  #value(expression: Expression, scope: Scope): Value {
    const { budget } = this.#run;
    budget.spend();
    const value = budget.deeper(() => this.#evaluate(expression, scope));
    // Whoever gets a text may read all of it.
    return typeof value === "string" ? budget.text(value) : value;
  }

  #evaluate(expression: Expression, scope: Scope): Value {
    const { budget } = this.#run;
    const value = (one: Expression) => this.#value(one, scope);
    switch (expression.kind) {
      case "constant":
        return expression.value;
      case "captured":
        return this.#captured;
      case "name":
        return this.#variable(expression.name, scope);
      case "list":
        return expression.items.map(value);
      case "tuple":
        return Tuple.from(expression.items.map(value));
      case "dict": {
        const dict = new Dict();
        for (const [key, one] of expression.pairs) dict.set(value(key), value(one));
        return dict;
      }
      case "member":
        return memberOf(value(expression.of), expression.name);
      case "item":
        return itemOf(this.#run, value(expression.of), value(expression.key));
      case "slice":
        return sliceOf(
          this.#run,
          value(expression.of),
          expression.bounds.map((bound) => (bound ? value(bound) : null)),
        );
      case "function":
      case "method":
      case "filter":
      case "test":
        return this.#call(expression, scope);
      case "not":
        return !isTrue(value(expression.of));
      case "minus":
      case "plus":
        return signed(expression.kind, value(expression.of));
      case "and": {
        const left = value(expression.left);
        return isTrue(left) ? value(expression.right) : left;
      }
      case "or": {
        const left = value(expression.left);
        return isTrue(left) ? left : value(expression.right);
      }
      case "calculate":
        return calculate(expression.operator, value(expression.left), value(expression.right), budget);
      case "compare":
        return this.#compare(value(expression.first), expression.rest, scope);
      case "concat":
        return joined(
          this.#run,
          expression.items.map((item) => textOf(value(item), budget)),
          "",
        );
      case "choice":
        if (isTrue(value(expression.condition))) return value(expression.then);
        return expression.otherwise
          ? value(expression.otherwise)
          : new Missing("the other value of an inline if");
    }
  }

  #call({ kind, name, isMacro, positional, named }: Call, scope: Scope): Value {
    const builtin = BUILTINS[kind].get(name);
    const macro = isMacro ? this.#variable(name, scope) : undefined;
    if (macro instanceof Missing) throw macro.problem();
    const [of] = positional;
    // `dict.fromkeys` and `loop.cycle` are methods of what is no value.
    const owner = kind === "method" && of?.kind === "name" ? of.name : undefined;
    const values = (owner === "dict" ? positional.slice(1) : positional).map((one) =>
      this.#value(one, scope),
    );
    const parameters = new Map(named.map(([name, one]) => [name, this.#value(one, scope)]));
    if (macro instanceof Macro) return macro.call(values, parameters);
    if (owner === "dict" && name === "from_keys") return dictOf(this.#run, values[0] ?? []);
    if (owner === "dict" && name === "fromkeys") return dictOfKeys(this.#run, values);
    if (!builtin) throw new TemplateProblem(unknownNameText(kind, name));
    return builtin(this.#run, values, parameters);
  }

  /** A chain: each value is compared with the next one. */
  #compare(first: Value, rest: ReadonlyArray<readonly [string, Expression]>, scope: Scope): boolean {
    let left = first;
    for (const [operator, expression] of rest) {
      const right = this.#value(expression, scope);
      if (!this.#holds(operator, left, right)) return false;
      left = right;
    }
    return true;
  }

  #holds(operator: string, left: Value, right: Value): boolean {
    const { budget } = this.#run;
    if (operator === "in") return contains(this.#run, right, left);
    if (operator === "not in") return !contains(this.#run, right, left);
    if (operator === "==") return isEqual(left, right, budget);
    if (operator === "!=") return !isEqual(left, right, budget);
    const order = compare(left, right, budget);
    if (operator === "<") return order < 0;
    if (operator === ">") return order > 0;
    return operator === "<=" ? order <= 0 : order >= 0;
  }
}

/** @param depth loops around the body, itself one of them */
function loopMembers(at: number, items: readonly Value[], depth: number): Members {
  const { length } = items;
  return new Members([
    ["depth", BigInt(depth)],
    ["depth0", BigInt(depth - 1)],
    ["previtem", items[at - 1] ?? (at > 0 ? null : new Missing("an item before the first"))],
    ["nextitem", items[at + 1] ?? (at + 1 < length ? null : new Missing("an item after the last"))],
    ["index", BigInt(at + 1)],
    ["index0", BigInt(at)],
    ["revindex", BigInt(length - at)],
    ["revindex0", BigInt(length - at - 1)],
    ["first", at === 0],
    ["last", at === length - 1],
    ["length", BigInt(length)],
  ]);
}
