/** Renders the statements of a template. */
import { TemplateProblem } from "./budget.ts";
import { contains, itemsOf, type Run } from "./calls.ts";
import { TESTS } from "./checks.ts";
import { FILTERS } from "./filters.ts";
import { FUNCTIONS } from "./functions.ts";
import { itemOf, joined, METHODS, memberOf, sliceOf } from "./methods.ts";
import { calculate, signed } from "./numbers.ts";
import type { Call, Expression, Statement, Target } from "./parser.ts";
import { compare, Dict, isEqual, isTrue, Members, Missing, Tuple, textOf, type Value } from "./values.ts";

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
    }
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
    for (const [at, item] of items.entries()) {
      const made = inner(item);
      made.variables.set("loop", loopMembers(at, items.length));
      this.all(loop.body, made);
    }
    if (items.length === 0) this.all(loop.otherwise, scope);
  }

  #variable(name: string, scope: Scope): Value {
    for (let at: Scope | undefined = scope; at; at = at.outer) {
      const value = at.variables.get(name);
      if (value !== undefined) return value;
    }
    return new Missing(`the variable "${name}"`);
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

  #call({ kind, name, positional, named }: Call, scope: Scope): Value {
    const builtin = BUILTINS[kind].get(name);
    if (!builtin) throw new TemplateProblem(`has the ${kind} "${name}", which is not known here`);
    const values = positional.map((one) => this.#value(one, scope));
    return builtin(this.#run, values, new Map(named.map(([name, one]) => [name, this.#value(one, scope)])));
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

function loopMembers(at: number, length: number): Members {
  return new Members([
    ["index", BigInt(at + 1)],
    ["index0", BigInt(at)],
    ["revindex", BigInt(length - at)],
    ["revindex0", BigInt(length - at - 1)],
    ["first", at === 0],
    ["last", at === length - 1],
    ["length", BigInt(length)],
  ]);
}
