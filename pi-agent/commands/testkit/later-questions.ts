/**
 * 40 questions that were written when the ranking was done. It offered the tool to 36 of them, and named it to the other four. Words
 * for deleting and for restarting were added afterwards.
 */
import { questionsOf } from "./questions.ts";

export const LATER_QUESTIONS = questionsOf({
  temperature: [
    ["en", "Could you check whether the board gets too warm in the afternoon sun?", "temperature"],
    ["es", "¿Hace calor dentro de la caja?", "temperature"],
  ],
  load: [
    ["en", "My Pi feels laggy. What is it busy with?", "cpu list_processes"],
    ["de", "Was frisst da so viel Rechenzeit?", "cpu list_processes"],
  ],
  memory: [
    ["fr", "La RAM est-elle saturée ?", "memory"],
    ["it", "Quanta memoria è occupata?", "memory"],
  ],
  disk: [
    ["de", "Passt das Backup mit 40 GB noch drauf?", "disk"],
    ["nl", "Hoeveel opslagruimte heb ik nog?", "disk"],
  ],
  system: [
    ["fr", "Quelle version de Linux est installée ?", "system_info"],
    ["de", "Wann wurde der Pi zuletzt neu gestartet?", "system_info"],
  ],
  network: [
    ["en", "Which address does this machine have in my home network?", "network_info"],
    ["de", "Kommst du an den Router ran?", "ping"],
  ],
  "services and logs": [
    ["en", "Has the web server been restarted recently?", "services journal"],
    ["fr", "Que s'est-il passé cette nuit d'après les journaux ?", "journal"],
  ],
  "pins and buses": [
    ["de", "Ist der Taster an Pin 6 gedrückt?", "gpio_read"],
    ["en", "Switch the fan relay off.", "gpio_write"],
  ],
  camera: [
    ["en", "Is there a parcel at the door? Have a look.", "snapshot"],
    ["es", "¿Qué se ve en la foto jardin.png?", "image"],
  ],
  "reading files": [
    ["en", "Show me the last entries of diary.md.", "read"],
    ["it", "Elenca il contenuto della cartella documenti.", "ls"],
  ],
  "searching files": [
    ["de", "Wo steht die Telefonnummer von Oma in meinen Notizen?", "grep"],
    ["en", "Which text files did I change last?", "glob find"],
  ],
  "changing files": [
    ["fr", "Note dans courses.txt : pain, lait.", "write append"],
    ["de", "Streiche den Eintrag 'Milch' aus einkauf.txt.", "edit"],
  ],
  "shell and jobs": [
    ["en", "Start the python script that cleans the cache.", "bash"],
    ["de", "Was macht der Job im Hintergrund gerade?", "jobs"],
  ],
  git: [
    ["en", "Who touched the parser lately? Look at the commit history.", "git_log"],
    ["de", "Welche Dateien sind im Repository noch nicht eingecheckt?", "git_status git_diff"],
  ],
  web: [
    ["fr", "Quand joue l'équipe de France ? Regarde sur le web.", "websearch"],
    ["en", "Read https://blog.example.net/post and tell me the main points.", "webfetch"],
  ],
  "browser and display": [
    ["en", "Book a table on the restaurant's website: fill in two people, eight o'clock.", "browser"],
    ["nl", "Maak een grafiek van het verbruik.", "canvas"],
  ],
  "person and to-do": [
    ["en", "Check with me first before you choose a name.", "question"],
    ["de", "Setz 'Reifen wechseln' auf die To-do-Liste.", "todowrite"],
  ],
  "delegation and skills": [
    ["en", "Let another helper model go through the long manual and report back.", "task sessions_spawn"],
    ["de", "Gibt es einen Skill für Rechnungen? Dann benutze ihn.", "skill"],
  ],
  "other agents and machines": [
    ["en", "Is the washing machine in the basement done?", "edge_call find_agents"],
    ["de", "Auf welchen Rechnern kannst du per SSH arbeiten?", "nodes"],
  ],
  sessions: [
    ["en", "What did we talk about in the other conversation?", "sessions_history sessions_list"],
    ["fr", "Envoie un message à la session « jardin ».", "sessions_send"],
  ],
});
