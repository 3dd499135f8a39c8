/** Chat: shows the messages and their calls, and the input for new ones. */

import type { SessionView } from "@edgecall/client/routes.ts";
import { WITHOUT_MODEL } from "@edgecall/core/loop/without-model.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { useContext, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { announcement } from "./announce.ts";
import { client } from "./api.ts";
import { textToAsk } from "./ask-later.ts";
import { useAttempt } from "./attempt.ts";
import { betaText } from "./beta-languages.ts";
import { CallCard } from "./call-card.tsx";
import { Form, Small } from "./controls.tsx";
import { ConversationList } from "./conversation-list.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Problem, Skeleton } from "./load.tsx";
import { Markdown } from "./markdown-view.tsx";
import { pictureOf } from "./pictures.ts";
import { newConversationId, openConversation, replaceConversation } from "./place.ts";
import { QuestionCard } from "./question-card.tsx";
import { RuleText } from "./rule-text.tsx";
import { ScreenTools } from "./screen-tools.ts";
import { Sure } from "./sure.tsx";
import { duration } from "./times.ts";
import { type CallView, isNotice, isOver, type Pause, type TurnView } from "./turns.ts";
import { type Conversation, useConversation } from "./use-conversation.ts";
import { type Conversations, useConversations } from "./use-conversations.ts";
import { Welcome } from "./welcome.tsx";

/** @property item the conversation in the address; absent = the newest one */
export function Chat({ session, item }: { session: SessionView; item: string | undefined }) {
  const conversations = useConversations();
  const { list } = conversations;
  useEffect(() => {
    if (item === undefined && list) replaceConversation(undefined, list[0]?.id ?? newConversationId());
  }, [item, list]);
  if (item === undefined) return <Skeleton lines={4} />;
  return <Talk key={item} session={session} id={item} conversations={conversations} />;
}

type TalkProps = { session: SessionView; id: string; conversations: Conversations };

function Talk({ session, id, conversations }: TalkProps) {
  const conversation = useConversation(id);
  const [listOpen, setListOpen] = useState(false);
  const { failed, attempt } = useAttempt();
  const mayApprove = session.scopes?.includes("approve") ?? false;
  const current = conversations.list?.find((one) => one.id === id);
  const say = (text: string, images: string[] = []) => {
    conversations.note(id, cutText(text, 80));
    conversation.ask(text, images);
  };
  useEffect(() => {
    const text = textToAsk(id);
    if (text !== undefined) say(text);
  }, []);
  const open = (next: string) => {
    setListOpen(false);
    openConversation(next);
  };

  const remove = () =>
    attempt(async () => {
      await client.json("DELETE /v1/conversations/{id}", { path: { id } });
      conversations.drop(id);
      replaceConversation(id, newConversationId());
    });
  const rename = (title: string) =>
    attempt(async () => {
      const named = await client.json("PATCH /v1/conversations/{id}", { path: { id }, body: { title } });
      conversations.rename(id, named.title);
    });

  return (
    <div class="chat">
      <aside id="conversations" aria-label="Conversations" class={listOpen ? "open" : undefined}>
        <button type="button" onClick={() => open(newConversationId())}>
          New conversation
        </button>
        <ConversationList conversations={conversations} current={id} onOpen={open} />
        {conversation.turns.length > 0 && (
          <div class="only-phone">
            <Sure label="Delete this conversation" onSure={() => void remove()} />
          </div>
        )}
      </aside>
      <section class="talk" aria-labelledby="chat-title">
        <header class="talk-head">
          <button
            type="button"
            class="small only-phone"
            aria-expanded={listOpen}
            aria-controls="conversations"
            onClick={() => setListOpen(!listOpen)}
          >
            Conversations
          </button>
          <Title
            title={current?.title ?? (conversation.turns.length > 0 ? "Conversation" : "New conversation")}
            onRename={
              conversation.turns.some(({ id: turn }) => turn !== "")
                ? (title) => void rename(title)
                : undefined
            }
          />
          {conversation.turns.length > 0 && (
            <span class="only-desktop">
              <Sure label="Delete" about="this conversation" onSure={() => void remove()} />
            </span>
          )}
          <button type="button" class="small only-phone" onClick={() => open(newConversationId())}>
            New
          </button>
          <div class="top-tools">{useContext(ScreenTools)}</div>
        </header>
        <Problem text={failed} />
        <Turns conversation={conversation} mayApprove={mayApprove} onSay={say} />
        <p class="unseen" role="status">
          {announcement(conversation.turns.at(-1))}
        </p>
        <Composer conversation={conversation} onAsk={say} />
      </section>
    </div>
  );
}

type TitleProps = { title: string; onRename: ((title: string) => void) | undefined };

function Title({ title, onRename }: TitleProps) {
  const [text, setText] = useState<string>();
  const field = useRef<HTMLInputElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const was = useRef(false);
  const open = text !== undefined;
  useEffect(() => {
    if (open) field.current?.select();
    else if (was.current) button.current?.focus();
    was.current = open;
  }, [open]);
  if (!open)
    return (
      <>
        <h1 id="chat-title" class="cut" title={title}>
          {title}
        </h1>
        {onRename && (
          <button
            ref={button}
            type="button"
            class="small"
            aria-label="Rename this conversation"
            onClick={() => setText(title)}
          >
            Rename
          </button>
        )}
      </>
    );
  return (
    <Form
      class="row title"
      onKeyDown={({ key }) => key === "Escape" && setText(undefined)}
      onSend={() => {
        if (text.trim() !== "" && text.trim() !== title) onRename?.(text.trim());
        setText(undefined);
      }}
    >
      <h1 id="chat-title" class="unseen">
        {title}
      </h1>
      <input
        ref={field}
        aria-label="Title"
        maxLength={80}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" class="small">
        Save
      </button>
    </Form>
  );
}

const NEAR_END_PX = 60;

type TurnsProps = {
  conversation: Conversation;
  mayApprove: boolean;
  onSay: (text: string, images?: string[]) => void;
};

function Turns({ conversation, mayApprove, onSay }: TurnsProps) {
  const { turns, loaded, problem, earlier } = conversation;
  // Pictures are not sent again: the gateway has them, and the page has only their addresses.
  const again = ({ text, pictures }: TurnView) =>
    onSay(
      text,
      pictures.filter((one) => one.startsWith("data:")),
    );
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const top = useRef(0);
  // Scrolls down with new content, including pictures that load late, unless the reader has scrolled up.
  useEffect(() => {
    const { current } = box;
    if (!current?.firstElementChild) return;
    const follow = new ResizeObserver(() => {
      if (atEnd.current) current.scrollTop = current.scrollHeight;
    });
    follow.observe(current);
    follow.observe(current.firstElementChild);
    return () => follow.disconnect();
  }, []);
  // Keeps the distance from the end when older turns are added above, so that the text being read does not move.
  const fromEnd = useRef<number | undefined>(undefined);
  const showEarlier = () => {
    if (!box.current) return;
    fromEnd.current = box.current.scrollHeight - box.current.scrollTop;
    atEnd.current = false;
    earlier?.();
  };
  const first = turns[0]?.id;
  useLayoutEffect(() => {
    const { current } = box;
    if (!current || fromEnd.current === undefined) return;
    current.scrollTop = current.scrollHeight - fromEnd.current;
    fromEnd.current = undefined;
    // The pressed button may have disappeared, so the focus moves to the text.
    if (!earlier) current.focus({ preventScroll: true });
  }, [first]);
  const asked = turns.at(-1)?.status === "sending";
  useEffect(() => {
    if (!asked || !box.current) return;
    atEnd.current = true;
    box.current.scrollTop = box.current.scrollHeight;
  }, [asked]);
  // A question may appear out of sight: below a phone's screen, or while an earlier answer is read.
  const asks = turns.flatMap(({ questions }) => questions).find(({ answer }) => answer === undefined)?.id;
  useEffect(() => {
    if (asks !== undefined) box.current?.querySelector(".question")?.scrollIntoView({ block: "nearest" });
  }, [asks]);
  return (
    <div
      class="turns"
      role="log"
      // The text grows letter by letter, so the status below announces each step once instead.
      aria-live="off"
      aria-label="Conversation"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
      tabIndex={0}
      ref={box}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        if (scrollHeight - scrollTop - clientHeight < NEAR_END_PX) atEnd.current = true;
        // Rotating a phone also moves the end. Only scrolling up means that the reader wants to stay.
        else if (scrollTop < top.current) atEnd.current = false;
        top.current = scrollTop;
      }}
    >
      <div class="column">
        {!loaded && !problem && turns.length === 0 && <Skeleton lines={4} />}
        {loaded && turns.length === 0 && !problem && <Welcome onAsk={(text) => onSay(text)} />}
        {earlier && (
          <button type="button" class="small earlier" onClick={showEarlier}>
            Earlier messages
          </button>
        )}
        {turns.map((turn, at) => (
          <Turn
            key={turn.key || turn.id}
            turn={turn}
            mayApprove={mayApprove}
            onAgain={at === turns.length - 1 ? again : undefined}
          />
        ))}
        <Problem text={problem} />
      </div>
    </div>
  );
}

type TurnProps = { turn: TurnView; mayApprove: boolean; onAgain: ((turn: TurnView) => void) | undefined };

function Turn({ turn, mayApprove, onAgain }: TurnProps) {
  const of = (id: string) => turn.questions.filter(({ call }) => call === id);
  const waits = (id: string) =>
    turn.questions.some(
      ({ answer, members }) => answer === undefined && members?.some(({ call }) => call === id),
    );
  const calls = new Set(turn.calls.map(({ id }) => id));
  const others = turn.questions.filter(({ call }) => !calls.has(call));
  return (
    <div class="turn">
      {(turn.text !== "" || turn.pictures.length > 0) && (
        <div class="asked">
          {turn.pictures.map((picture, at) => (
            <img src={picture} alt={`sent, number ${at + 1}`} loading="lazy" />
          ))}
          {turn.text}
        </div>
      )}
      {stepsOf(turn).map((step) =>
        typeof step === "string" ? (
          <Markdown text={step} />
        ) : (
          <CallCard
            key={step.id}
            call={step}
            times={1 + turn.calls.filter(({ same_as }) => same_as === step.id).length}
            questions={of(step.id)}
            waits={waits(step.id)}
            mayApprove={mayApprove}
            answer={turn.answer}
          />
        ),
      )}
      {others.map((question) => (
        <QuestionCard key={question.id} question={question} mayApprove={mayApprove} />
      ))}
      {turn.saying !== "" && <Markdown text={turn.saying} />}
      {turn.answer !== null && !isNotice(turn) && (
        <div class={`answer ${turn.status}`}>
          <Markdown text={turn.answer} />
          <CopyButton text={turn.answer} />
        </div>
      )}
      {turn.rules.map((rule) => (
        <RuleText {...rule} text={rule.text ?? turn.answer ?? ""} />
      ))}
      {turn.model === WITHOUT_MODEL && (
        <p class="quiet" title={`edgecall understood it itself. ${betaText()}`}>
          Answered without a model.
        </p>
      )}
      {turn.unasked && turn.rules.length === 0 && <p class="notice">No device was asked.</p>}
      {turn.notices.map((notice) => (
        <p class="notice">{notice}</p>
      ))}
      {turn.problem !== turn.answer && <Problem text={turn.problem} />}
      {turn.status === "failed" && onAgain && turn.text !== "" && (
        <div class="row">
          <Small onClick={() => onAgain(turn)}>Retry</Small>
        </div>
      )}
      {isOver(turn) && turn.durationMs !== undefined && !isNotice(turn) && (
        <p class="foot">
          {[
            turn.status === "done" ? undefined : turn.status,
            duration(turn.durationMs),
            turn.model,
            turn.tokens > 0 ? `${turn.tokens.toLocaleString()} tokens` : undefined,
          ]
            .filter(Boolean)
            .join(" · ")}
        </p>
      )}
      {!isOver(turn) && turn.waiting && <Paused {...turn.waiting} />}
      {!isOver(turn) &&
        !turn.waiting &&
        turn.saying === "" &&
        turn.calls.every(({ status }) => status !== "pending") && (
          <p class="thinking">
            <span class="dot" aria-hidden="true" /> thinking
          </p>
        )}
    </div>
  );
}

/** Says why the model's endpoint asks for a pause, and how many seconds are left. */
function Paused({ until, text }: Pause) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const tick = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(tick);
  }, []);
  const seconds = Math.ceil((until - now) / 1_000);
  return (
    <p class="thinking">
      <span class="dot" aria-hidden="true" /> {visible(text)} ·{" "}
      {seconds > 0 ? `asks again in ${seconds} s` : "asks again"}
    </p>
  );
}

/** Returns the model's texts and calls in order. */
function stepsOf({ said, calls }: TurnView): Array<string | CallView> {
  const steps: Array<string | CallView> = [];
  for (let at = 0; at <= calls.length; at += 1) {
    steps.push(...said.filter(({ before }) => before === at).map(({ text }) => text));
    const call = calls[at];
    // An equal call of the same step ran for it, and its card says how many there were.
    if (call && call.same_as === undefined) steps.push(call);
  }
  return steps;
}

type ComposerProps = { conversation: Conversation; onAsk: (text: string, images: string[]) => void };

function Composer({ conversation, onAsk }: ComposerProps) {
  const [text, setText] = useState("");
  const [images, setImages] = useState<string[]>([]);
  const [problem, setProblem] = useState<string>();
  const line = useRef<HTMLTextAreaElement>(null);
  // Not on touch screens, where focus would open a keyboard over half the screen.
  useEffect(() => {
    if (matchMedia("(pointer: fine)").matches) line.current?.focus();
  }, []);
  const submit = () => {
    if (text.trim() === "" || conversation.busy) return;
    onAsk(text.trim(), images);
    setText("");
    setImages([]);
  };
  return (
    <Form
      class="composer"
      onSend={() => {
        submit();
      }}
    >
      {images.length > 0 && (
        <div class="attached">
          {images.map((image, at) => (
            <button
              type="button"
              class="plain"
              onClick={() => setImages(images.filter((_, other) => other !== at))}
            >
              <img src={image} alt={`attached, number ${at + 1}; press to remove`} />
            </button>
          ))}
        </div>
      )}
      <Problem text={problem} />
      <div class="line">
        <label class="attach">
          <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" class="icon">
            <path d="M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 9h.1" />
          </svg>
          <input
            type="file"
            class="hidden-input"
            aria-label="Attach pictures"
            accept="image/*"
            multiple
            onChange={async ({ currentTarget }) => {
              const files = [...(currentTarget.files ?? [])].slice(0, 8 - images.length);
              currentTarget.value = "";
              setProblem(undefined);
              try {
                const added = await Promise.all(files.map(pictureOf));
                setImages((before) => [...before, ...added].slice(0, 8));
              } catch {
                setProblem("This browser cannot read that picture.");
              }
            }}
          />
        </label>
        <textarea
          ref={line}
          aria-label="Message"
          placeholder="Ask your devices…"
          rows={1}
          maxLength={32_000}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            submit();
          }}
        />
        {conversation.busy ? (
          <button
            key="stop"
            type="button"
            class="bad"
            onClick={() => {
              conversation.stop();
              // The button disappears with the turn, so the focus moves to the input.
              line.current?.focus();
            }}
          >
            Stop
          </button>
        ) : (
          <button key="ask" type="submit" class="main" disabled={text.trim() === ""}>
            Ask
          </button>
        )}
      </div>
    </Form>
  );
}
