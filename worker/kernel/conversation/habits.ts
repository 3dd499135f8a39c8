/** Knows and learns what the endpoints of models refuse, for the model calls of a conversation. Home keeps it for all conversations. */
import { type HabitStore, HabitsInMemory } from "@edgecall/core/loop/habits.ts";
import type { Plan } from "../api/plan.ts";
import type { ConversationContext } from "./context.ts";
import { slot } from "./slot.ts";

/** Learned here; Home's plan has the others. */
const learnedOf = slot(() => new HabitsInMemory());

export function habitsOf(context: ConversationContext, plan: Plan): HabitStore {
  const learned = learnedOf(context);
  return {
    of: (source) => [...(plan.habits?.[source] ?? []), ...learned.of(source)],
    learned(source, habits, dropped) {
      // A plan that was made before does not know of it.
      learned.learned(source, habits, dropped);
      if (dropped.length > 0) context.plan = undefined;
      context.later(context.home().models.modelLearned(source, [...habits], [...dropped]));
    },
  };
}
