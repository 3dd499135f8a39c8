import { describe } from "vitest";
import { sessionCases } from "../testkit/session-cases.ts";

describe("in Node", sessionCases);
