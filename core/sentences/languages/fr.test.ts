import { expect, test } from "vitest";
import { makeLexicon } from "../lexicon.ts";
import { NameTable } from "../names.ts";
import { readSentence } from "../read.ts";
import { FR_HOME } from "../testkit/demo-home.ts";
import { said } from "../testkit/said.ts";
import { fr } from "./fr.ts";

const names = new NameTable(FR_HOME);
const lexicons = [makeLexicon(fr)];

const SENTENCES: ReadonlyArray<readonly [sentence: string, meaning: string]> = [
  ["Allume la liseuse", "turn_on <Liseuse>"],
  ["éteins la liseuse", "turn_off <Liseuse>"],
  ["eteins le plafonnier stp", "turn_off <Plafonnier>"],
  ["Éteignez toutes les lumières de la cuisine", "turn_off <light all @Cuisine>"],
  ["Pourrais-tu allumer la lumière de la salle de bain ?", "turn_on <Lumière de la salle de bain>"],
  ["Est-ce que tu peux éteindre les lumières du salon ?", "turn_off <light many @Salon>"],
  ["J'aimerais que tu allumes la lampe de bureau", "turn_on <Lampe de bureau>"],
  ["Je voudrais que vous fermiez les volets", "close <shutter many>"],
  ["Veuillez éteindre la télé, s'il vous plaît", "turn_off <television one>"],
  ["allume-la", "turn_on <it>"],
  ["éteins-les", "turn_off <them>"],
  ["peux-tu l'éteindre ?", "turn_off <it>"],
  ["mets-la à 30 %", "set value 30% <it>"],
  ["éteins tout dans la cuisine", "turn_off <everything @Cuisine>"],
  ["éteins la cuisine", "? no_target"],
  ["dis-moi si le congélateur dépasse -12 degrés", "watch <freezer one> condition is above -12°"],
  ["dis-moi si la fenêtre de la cuisine s'ouvre", "watch <Fenêtre de la cuisine> condition state open"],
  ["dis-moi si la fenêtre de la cuisine est ouverte", "ask yes_no open <Fenêtre de la cuisine>"],
  ["est-ce que le congélateur dépasse -12 degrés ?", "ask yes_no compare is above -12° <freezer one>"],
  ["allume la lumière et éteins le plafonnier", "turn_on <light one>; turn_off <Plafonnier>"],
  ["allume la lumière éteins le plafonnier", "turn_on <light one>; turn_off <Plafonnier>"],
  ["allume la éteins le plafonnier", "? no_sense"],
  ["éteins la liseuse et le plafonnier", "turn_off <Liseuse>; turn_off <Plafonnier>"],
  [
    "éteins les lumières du salon et de la cuisine",
    "turn_off <light many @Salon>; turn_off <light many @Cuisine>",
  ],
  ["Ferme la porte d'entrée à clé", "lock <Porte d'entrée>"],
  ["verrouille la porte d'entrée", "lock <Porte d'entrée>"],
  ["Assure-toi que la porte d'entrée est fermée à clé", "lock <Porte d'entrée>"],
  ["mets le chauffage à 21 degrés", "set temperature value 21° <heating one>"],
  ["baisse le chauffage à 19", "set value 19 <heating one>"],
  [
    "Règle le chauffage du salon sur vingt et un degrés et demi",
    "set temperature value 21.5° <Chauffage du salon>",
  ],
  ["règle la température de la chambre à 19", "set temperature value 19 <@Chambre>"],
  ["tamise la liseuse", "lower brightness <Liseuse>"],
  ["règle la luminosité de la liseuse à quatre-vingt-dix pour cent", "set brightness value 90% <Liseuse>"],
  ["Liseuse à 40 %", "set value 40% <Liseuse>"],
  ["mets la liseuse en rouge", "set color value color red <Liseuse>"],
  ["ouvre les volets à moitié", "set position value 50% <shutter many>"],
  ["monte le volume de 10", "raise volume by 10 <unsaid>"],
  ["monte le volume", "raise volume <unsaid>"],
  ["Mets le ventilateur de la salle de bain en marche", "turn_on <Ventilateur de la salle de bain>"],
  ["lance l'aspirateur", "start <vacuum one>"],
  ["renvoie l'aspirateur à sa base", "dock <vacuum one>"],
  ["Quelle température fait-il dans la chambre ?", "ask value temperature <@Chambre>"],
  ["il fait combien dans le salon", "ask value temperature <@Salon>"],
  ["la température du congélateur", "ask value temperature <freezer one>"],
  ["La porte d'entrée est-elle fermée à clé ?", "ask yes_no locked <Porte d'entrée>"],
  ["est-ce que la fenêtre de la cuisine est ouverte", "ask yes_no open <Fenêtre de la cuisine>"],
  ["Quelles fenêtres sont ouvertes ?", "ask which open <window many>"],
  ["Combien de lumières sont allumées ?", "ask count on <light many>"],
  ["Y a-t-il une fenêtre ouverte ?", "ask any open <window any>"],
  ["Est-ce que toutes les fenêtres sont fermées ?", "ask all closed <window all>"],
  ["Il reste combien de place sur le disque de vm ?", "ask value disk <vm>"],
  ["Préviens-moi quand la machine à laver a fini", "watch <washing_machine one> condition state finished"],
  ["Préviens-moi si le congélateur dépasse moins 15 degrés", "watch <freezer one> condition is above -15°"],
  ["Rappelle-moi dans 10 minutes de sortir la pizza", "remind when in_minutes 10 sortir la pizza"],
  ["Rappelle-moi demain à 8h30 d'appeler Paul", "remind when at 08:30 day tomorrow appeler Paul"],
  [
    "Tous les matins à 8 heures la température du jardin",
    "briefing when every day at 08:00 asks [ask value temperature <@Jardin>] Tous les matins à 8 heures la température du jardin",
  ],
  ["mets un minuteur de 5 minutes", "remind when in_minutes 5 ''"],
  ["n'allume pas la liseuse", "? negation"],
  ["éteins tout sauf la liseuse", "? exception"],
  ["éteins la liseuse dans 10 minutes", "? delay"],
  ["éteins la liseuse à 8 heures", "? delay"],
  ["allume la liseuse à 8", "? delay"],
  ["allume la liseuse quand la porte s'ouvre", "? condition"],
  ["Pourquoi la liseuse est-elle allumée ?", "? question"],
  ["dois-je éteindre la liseuse ?", "? question"],
  ["Demande au modèle : c'est quoi l'amour ?", "model c'est quoi l'amour ?"],
  ["Quels appareils sont en ligne ?", "devices online which"],
  ["annule tous mes rappels", "rules cancel reminder all true"],
  ["Que peux-tu faire ?", "help"],
  ["Quelle heure est-il ?", "clock time"],
];

test.each(SENTENCES)("%s", (sentence, meaning) => {
  expect(said(readSentence(sentence, names, lexicons))).toBe(meaning);
});
