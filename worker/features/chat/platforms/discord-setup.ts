/** Connects Discord: finds the application by the bot's token, and sets its slash commands and the address for interactions. */
import { check, type Parsed, z } from "@edgecall/core/protocol/parse.ts";
import type { DiscordConnection } from "../../../kernel/settings/chat.ts";
import { postJson, send } from "./platform-request.ts";
import type { Setup } from "./platform-setup.ts";

const Application = z.looseObject({
  id: z.string().check(z.regex(/^\d{1,20}$/)),
  name: z.string(),
  verify_key: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  interactions_endpoint_url: z.optional(z.nullable(z.string())),
});
type Application = z.infer<typeof Application>;

/** Discord's numbers for a typed command, a command for a message, a text option and a file option. */
const CHAT_INPUT = 1;
const MESSAGE_COMMAND = 3;
const STRING = 3;
const ATTACHMENT = 11;

function command(name: string, description: string, options: object[] = []) {
  // Installed in servers or by single people; used in servers, in the bot's private channel and in those of others.
  return { type: CHAT_INPUT, name, description, options, integration_types: [0, 1], contexts: [0, 1, 2] };
}

const text = (description: string, required: boolean) => ({
  type: STRING,
  name: "text",
  description,
  required,
});

/** The commands that `discord.ts` and `commands.ts` handle. */
const COMMANDS = [
  command("ask", "Ask your devices", [
    text("Your question, or what is to be done", true),
    { type: ATTACHMENT, name: "picture", description: "A picture to go with it" },
  ]),
  // In the menu of a message, below Apps.
  { type: MESSAGE_COMMAND, name: "Ask about this", integration_types: [0, 1], contexts: [0, 1, 2] },
  command("stop", "Stop what is running"),
  command("status", "What is running"),
  command("agents", "Which devices there are"),
  command("rules", "What I watch and remind you of"),
  command("away", "Say that you are not at home"),
  command("back", "Say that you are at home again"),
  command("ack", "Answer what is firing here", [text("Minutes in which I am to be silent about it", false)]),
  command("new", "Begin a new conversation"),
  command("help", "What can be said here"),
  command("answer", "Answer a question of a device", [text("The answer, or the number of an option", true)]),
  command("approve", "Let somebody in", [text("Their code; then a role, if you like", true)]),
];

export const discordSetup: Setup<DiscordConnection> = {
  async account(connection) {
    const application = await applicationOf(connection);
    if (!application.ok) return application;
    const { id, name, verify_key } = application.value;
    const link = `https://discord.com/oauth2/authorize?client_id=${id}&scope=bot+applications.commands`;
    return { ok: true, value: { name, link, fields: { public_key: verify_key } } };
  },

  async install(connection, address) {
    const application = await applicationOf(connection);
    if (!application.ok) return application;
    const { base_url } = connection;
    const registered = await postJson(
      "discord commands",
      `${base_url}/applications/${application.value.id}/commands`,
      COMMANDS,
      authorized(connection),
      "PUT",
    );
    if (registered.status !== 200) return refused("the commands", registered);
    // Discord tests the address at once, so the connection has to be stored already.
    const set = await postJson(
      "discord application",
      `${base_url}/applications/@me`,
      { interactions_endpoint_url: address },
      authorized(connection),
      "PATCH",
    );
    if (set.status === 200) return { ok: true, value: [] };
    return {
      ok: true,
      value: [
        `The commands are registered, but Discord did not take the address (${refusalText(set)}). In the application's General Information set Interactions Endpoint URL to ${address}`,
      ],
    };
  },

  async deliveries(connection) {
    const application = await applicationOf(connection);
    if (!application.ok) return application;
    return { ok: true, value: { webhook: application.value.interactions_endpoint_url ?? null } };
  },

  async uninstall(connection) {
    await postJson(
      "discord application",
      `${connection.base_url}/applications/@me`,
      { interactions_endpoint_url: "" },
      authorized(connection),
      "PATCH",
    );
  },
};

async function applicationOf(connection: DiscordConnection): Promise<Parsed<Application>> {
  const reply = await send("discord application", `${connection.base_url}/applications/@me`, {
    headers: authorized(connection),
  });
  if (reply.status === 200) return check(Application, reply.body);
  if (reply.status === 401)
    return {
      ok: false,
      error: "Discord does not know this token. The application's page shows it under Bot.",
    };
  return refused("the application", reply);
}

type Reply = { status: number; body: Record<string, unknown> };

function refused(what: string, reply: Reply): { ok: false; error: string } {
  return { ok: false, error: `Discord refused ${what}: ${refusalText(reply)}` };
}

function refusalText({ status, body }: Reply): string {
  return typeof body.message === "string" ? body.message : String(status);
}

function authorized({ token }: DiscordConnection): Record<string, string> {
  return { authorization: `Bot ${token}` };
}
