/** `execute` and `evolution`. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Served, serve } from "../testing/served.ts";

type Fields = Record<string, unknown>;

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(async () => await served.stop());

const say = (id: string, command: string, payload: Fields = {}, more: Fields = {}) =>
  served.peer.ask(id, { command, payload, request_id: served.nextId(), ...more });

describe("execute", () => {
  test("a monitor: EvoClaw's fields, without the alerts that need a market", async () => {
    const execute = async (action?: string) => await say("eye", "execute", { ...(action && { action }) });
    expect((await execute()).payload).toEqual({
      status: "executed",
      type: "monitor",
      agent_type: "monitor",
      note: "specify action: add_price_alert, status, reset_alerts, clear_alerts",
      request_id: served.lastId(),
    });
    expect((await execute("status")).payload).toMatchObject({
      status: "success",
      monitor_status: { total_alerts: 0, triggered_alerts: 0 },
    });
    expect((await execute("clear_alerts")).payload).toMatchObject({ action: "alerts_cleared" });
    expect(await execute("add_price_alert")).toMatchObject({
      report_type: "error",
      payload: { error: expect.stringMatching(/not offered here.*no market feed.*tools_list/) },
    });
  });

  test("a trader trades nothing here; other types only acknowledge", async () => {
    await served.start({ agentId: "trader", agentType: "trader" });
    expect(await say("trader", "execute", { action: "place_order", coin: "BTC" })).toMatchObject({
      report_type: "error",
      payload: {
        error: expect.stringMatching(/^trading client not initialized: place_order is not offered/),
      },
    });
    expect((await say("trader", "execute")).payload).toMatchObject({
      status: "executed",
      type: "trade",
      agent_type: "trader",
      note: "specify action: get_prices, get_positions, place_order, monitor_positions",
    });
    for (const agentType of ["sensor", "governance"]) {
      await served.start({ agentId: agentType, agentType });
      expect((await say(agentType, "execute", { action: "x" })).payload).toEqual({
        status: "executed",
        type: agentType,
        agent_type: agentType,
        request_id: served.lastId(),
      });
    }
  });
});

describe("evolution", () => {
  const evolution = (payload: Fields = {}) => served.ask("evolution", payload);

  test("performance comes from the tools until trades are recorded", async () => {
    await served.tool("counted");
    await served.tool("toaster");
    expect((await evolution({ action: "get_performance" })).payload).toMatchObject({
      status: "success",
      performance: { win_rate: 50, total_trades: 2, total_pnl: 0 },
      fitness_score: expect.closeTo(65, 0),
      basis: "tools",
      profile_version: 0,
    });
    const trade = { action: "record_trade", asset: "BTC", entry_price: 100, exit_price: 110, size: 2 };
    expect((await evolution(trade)).payload).toEqual({
      status: "trade_recorded",
      asset: "BTC",
      pnl: 20,
      request_id: served.lastId(),
    });
    expect((await evolution({ action: "get_trade_history" })).payload).toMatchObject({
      status: "success",
      trade_count: 1,
      trades: [
        { asset: "BTC", entry_price: 100, exit_price: 110, size: 2, pnl: 20, timestamp: expect.any(Number) },
      ],
    });
    expect((await evolution({ action: "get_performance" })).payload).toMatchObject({
      performance: { total_pnl: 20, total_trades: 1, win_rate: 100 },
      basis: "trades",
    });
    expect((await served.ask("get_metrics")).payload).toMatchObject({
      evolution_metrics: { total_pnl: 20 },
      basis: "trades",
    });
  });

  test("a trade that was sent twice is one trade", async () => {
    await evolution({ action: "reset" });
    const trade = { action: "record_trade", asset: "ETH", entry_price: 1, exit_price: 2, size: 1 };
    const command = { command: "evolution", payload: trade, request_id: served.nextId() };
    await served.peer.ask("eye", command);
    await served.peer.ask("eye", command);
    expect((await evolution({ action: "get_trade_history" })).payload.trade_count).toBe(1);
  });

  test("reset; and errors in EvoClaw's words", async () => {
    expect((await evolution({ action: "reset" })).payload.status).toBe("evolution_tracker_reset");
    expect((await evolution({ action: "get_performance" })).payload).toMatchObject({
      performance: { total_trades: 0 },
      fitness_score: 0,
    });
    expect(await evolution({ action: "record_trade", asset: "BTC", entry_price: 1 })).toMatchObject({
      report_type: "error",
      payload: { error: "missing exit_price" },
    });
    const wrong = { action: "record_trade", asset: "BTC", entry_price: 1, exit_price: "2", size: 1 };
    expect((await evolution(wrong)).payload.error).toMatch(/^payload\.exit_price: .*expected number/);
    expect((await evolution()).payload).toMatchObject({
      status: "evolution_command_received",
      note: "specify action: record_trade, get_performance, get_trade_history, reset",
    });
  });
});
