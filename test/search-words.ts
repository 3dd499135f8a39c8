/** In tests the words of the search are there, as the gateway has them once it has read its file. */
import { giveSearchWords } from "@edgecall/core/agents/search-words.ts";
import { SEARCH_WORDS } from "@edgecall/core/agents/search-words-data.ts";

giveSearchWords(SEARCH_WORDS);
