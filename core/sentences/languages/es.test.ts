import { expect, test } from "vitest";
import { makeLexicon } from "../lexicon.ts";
import { NameTable } from "../names.ts";
import { readSentence } from "../read.ts";
import { ES_HOME } from "../testkit/demo-home.ts";
import { said } from "../testkit/said.ts";
import { es } from "./es.ts";

const names = new NameTable(ES_HOME);
const lexicons = [makeLexicon(es)];

const SENTENCES: ReadonlyArray<readonly [sentence: string, meaning: string]> = [
  ["¿Qué está abierto?", "ask which open <everything>"],
  ["¿Hay algo encendido?", "ask any on <everything>"],
  ["¿Qué pilas están gastadas?", "ask which low_battery <everything>"],
  ["Enciende la lámpara de lectura", "turn_on <Lámpara de lectura>"],
  ["prende la lampara de lectura", "turn_on <Lámpara de lectura>"],
  ["Apague todas las luces de la cocina, por favor", "turn_off <light all @Cocina>"],
  ["¿Puedes apagar la luz del baño?", "turn_off <Luz del baño>"],
  ["Quiero que enciendas la lámpara del escritorio", "turn_on <Lámpara del escritorio>"],
  ["Me gustaría que cerraras las persianas", "? unknown_word"],
  ["cierra las persianas", "close <shutter many>"],
  ["apágala", "turn_off <it>"],
  ["enciéndelas", "turn_on <them>"],
  ["ponlo al 30 %", "set value 30% <it>"],
  ["apaga todo en la cocina", "turn_off <everything @Cocina>"],
  ["apaga la cocina", "? no_target"],
  ["enciende la luz y apaga la tele", "turn_on <light one>; turn_off <television one>"],
  ["apaga las luces del salón y de la cocina", "turn_off <light many @Salón>; turn_off <light many @Cocina>"],
  ["cierra con llave la puerta principal", "lock <Puerta principal>"],
  ["Asegúrate de que la puerta principal esté cerrada con llave", "lock <Puerta principal>"],
  ["pon la calefacción a 21 grados", "set temperature value 21° <heating one>"],
  [
    "Ajusta la calefacción del salón a veintiún grados y medio",
    "set temperature value 21.5° <Calefacción del salón>",
  ],
  ["pon la temperatura del dormitorio a 19", "set temperature value 19 <@Dormitorio>"],
  ["atenúa la lámpara de lectura", "lower brightness <Lámpara de lectura>"],
  ["Lámpara de lectura al 40 por ciento", "set value 40% <Lámpara de lectura>"],
  ["pon la lámpara de lectura en rojo", "set color value color red <Lámpara de lectura>"],
  ["abre las persianas hasta la mitad", "set position value 50% <shutter many>"],
  ["sube el volumen un 10 por ciento", "raise volume by 10% <unsaid>"],
  ["baja las persianas", "close <shutter many>"],
  ["manda la aspiradora a la base", "dock <vacuum one>"],
  ["¿Qué temperatura hace en el dormitorio?", "ask value temperature <@Dormitorio>"],
  ["¿Cuál es la temperatura del congelador?", "ask value temperature <freezer one>"],
  ["¿Está cerrada con llave la puerta principal?", "ask yes_no locked <Puerta principal>"],
  ["¿Qué ventanas están abiertas?", "ask which open <window many>"],
  ["¿Cuántas luces están encendidas?", "ask count on <light many>"],
  ["¿Hay alguna ventana abierta?", "ask any open <window any>"],
  ["¿Están todas las ventanas cerradas?", "ask all closed <window all>"],
  ["¿Cuánto espacio libre queda en el disco de vm?", "ask value disk <vm>"],
  ["Avísame cuando la lavadora termine", "watch <washing_machine one> condition state finished"],
  ["Avísame si el congelador supera los menos 15 grados", "watch <freezer one> condition is above -15°"],
  ["Recuérdame en 10 minutos sacar la pizza", "remind when in_minutes 10 sacar la pizza"],
  ["Recuérdame mañana a las 8:30 llamar a Pablo", "remind when at 08:30 day tomorrow llamar a Pablo"],
  [
    "Todas las mañanas a las 8 la temperatura del jardín",
    "briefing when every day at 08:00 asks [ask value temperature <@Jardín>] Todas las mañanas a las 8 la temperatura del jardín",
  ],
  ["pon un temporizador de 5 minutos", "remind when in_minutes 5 ''"],
  ["no enciendas la lámpara de lectura", "? negation"],
  ["apaga todo menos la lámpara de lectura", "? exception"],
  ["apaga la lámpara de lectura en 10 minutos", "? delay"],
  ["apaga la lámpara de lectura a las 8", "? delay"],
  ["enciende la lámpara de lectura cuando se abra la puerta", "? condition"],
  ["¿Por qué está encendida la lámpara de lectura?", "? question"],
  ["Pregunta al modelo: ¿qué es el amor?", "model qué es el amor?"],
  ["¿Qué dispositivos están en línea?", "devices online which"],
  ["¿Qué recordatorios tengo?", "rules list reminder all true"],
  ["¿Qué reglas tengo?", "rules list all true"],
  ["borra todos mis recordatorios", "rules cancel reminder all true"],
  ["¿Qué puedes hacer?", "help"],
  ["¿Qué hora es?", "clock time"],
  ["quiero la lámpara de lectura encendida", "turn_on <Lámpara de lectura>"],
  ["quiero que la lámpara de lectura esté encendida", "turn_on <Lámpara de lectura>"],
  ["quiero que la lámpara de lectura sea azul", "set color value color blue <Lámpara de lectura>"],
  ["¿necesito la luz encendida?", "ask yes_no on <light one>"],
  ["enciende o apaga la lámpara de lectura", "toggle <Lámpara de lectura>"],
  ["enciende la lámpara de lectura o no", "? negation"],
  ["enciende la lámpara de lectura si puedes", "turn_on <Lámpara de lectura>"],
  ["enciende la lámpara de lectura si hace frío", "? condition"],
  ["quita el sonido de la tele", "set volume value bound minimum <television one>"],
  ["¿qué se está reproduciendo en la tele?", "ask value state <television one>"],
  ["¿hemos dejado la ventana de la cocina abierta?", "ask yes_no open <Ventana de la cocina>"],
  [
    "apaga la lámpara de lectura acelera el ventilador",
    "turn_off <Lámpara de lectura>; raise speed <fan one>",
  ],
];

test.each(SENTENCES)("%s", (sentence, meaning) => {
  expect(said(readSentence(sentence, names, lexicons))).toBe(meaning);
});
