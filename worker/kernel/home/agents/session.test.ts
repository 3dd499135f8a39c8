import { describe } from "vitest";
import { sessionCases } from "../../../../core/testkit/session-cases.ts";

describe("in workerd", sessionCases);
