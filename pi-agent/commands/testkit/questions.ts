/**
 * 120 questions for a device, six a family of tools in three languages, with the tools that answer each. They were written before
 * the device offered fewer tools than it has, and the ranking is not tuned to single ones of them.
 */

/** @property tools each of them alone answers the question, or is the first step of the answer */
export type ToolQuestion = { family: string; language: string; text: string; tools: readonly string[] };

type Row = readonly [language: string, text: string, tools: string];

const FAMILIES: Readonly<Record<string, readonly Row[]>> = {
  temperature: [
    ["en", "How warm is the Pi?", "temperature"],
    ["en", "Is the processor overheating?", "temperature"],
    ["de", "Wie heiß ist der Chip gerade?", "temperature"],
    ["de", "Was zeigt der angeschlossene Fühler an, wie viel Grad?", "temperature"],
    ["fr", "Quelle température fait-il dans le boîtier ?", "temperature"],
    ["fr", "Est-ce que le processeur chauffe trop ?", "temperature"],
  ],
  load: [
    ["en", "Why is everything so slow today?", "cpu list_processes"],
    ["en", "Which program is eating the processor?", "list_processes"],
    ["de", "Wie ausgelastet ist die Maschine?", "cpu"],
    ["de", "Welche Programme laufen gerade?", "list_processes"],
    ["fr", "Quelle est la charge du processeur ?", "cpu"],
    ["fr", "Quels processus prennent le plus de ressources ?", "list_processes"],
  ],
  memory: [
    ["en", "How much RAM is left?", "memory"],
    ["en", "Is it swapping?", "memory"],
    ["de", "Wie viel Arbeitsspeicher ist noch frei?", "memory"],
    ["de", "Reicht der Speicher für noch einen Container?", "memory"],
    ["fr", "Combien de mémoire vive est utilisée ?", "memory"],
    ["fr", "Reste-t-il assez de mémoire ?", "memory"],
  ],
  disk: [
    ["en", "How full is the SD card?", "disk"],
    ["en", "Do I have room for 20 GB of photos?", "disk"],
    ["de", "Wie voll ist die Festplatte?", "disk"],
    ["de", "Wie viel Platz ist noch auf der Platte?", "disk"],
    ["fr", "Combien d'espace libre reste-t-il sur le disque ?", "disk"],
    ["fr", "La carte SD est-elle bientôt pleine ?", "disk"],
  ],
  system: [
    ["en", "Which model of Raspberry Pi is this, and how long has it been up?", "system_info"],
    ["en", "Update yourself to the newest version, please.", "update_self"],
    ["de", "Welches Betriebssystem läuft hier?", "system_info"],
    ["de", "Ist das Netzteil zu schwach, wird gedrosselt?", "system_info"],
    ["fr", "Depuis combien de temps l'appareil est-il allumé ?", "system_info"],
    ["fr", "Mets l'agent à jour.", "update_self"],
  ],
  network: [
    ["en", "What's your IP address?", "network_info"],
    ["en", "Can you reach the router?", "ping"],
    ["de", "Wie gut ist das WLAN-Signal?", "network_info"],
    ["de", "Antwortet der Drucker unter 192.168.1.40?", "ping"],
    ["fr", "À quel réseau Wi-Fi es-tu connecté ?", "network_info"],
    ["fr", "Est-ce que le serveur nas.local répond ?", "ping"],
  ],
  "services and logs": [
    ["en", "Did any service fail?", "services"],
    ["en", "What does the system log say about last night's crash?", "journal"],
    ["de", "Läuft der Dienst mosquitto?", "services"],
    ["de", "Zeig mir die letzten Fehlermeldungen im Protokoll.", "journal"],
    ["fr", "Le service nginx est-il actif ?", "services"],
    ["fr", "Montre les erreurs du journal depuis ce matin.", "journal"],
  ],
  "pins and buses": [
    ["en", "Is pin 17 high?", "gpio_read"],
    ["en", "Which devices answer on the I2C bus?", "i2c_detect"],
    ["de", "Schalte das Relais an GPIO 22 ein.", "gpio_write"],
    ["de", "Welche Pins sind noch frei?", "gpio_list"],
    ["fr", "Mets la broche 5 à zéro.", "gpio_write"],
    ["fr", "Quel est l'état de la broche 27 ?", "gpio_read"],
  ],
  camera: [
    ["en", "Take a picture of the front yard.", "snapshot"],
    ["en", "What can be seen on the photo kitchen.jpg?", "image"],
    ["de", "Mach ein Foto mit der Kamera.", "snapshot"],
    ["de", "Was ist auf dem Bild garten.png zu sehen?", "image"],
    ["fr", "Prends une photo du garage.", "snapshot"],
    ["fr", "Décris l'image plan.jpg.", "image"],
  ],
  "reading files": [
    ["en", "What is in config.yaml?", "read"],
    ["en", "What's in the downloads folder?", "ls"],
    ["de", "Lies mir notizen.txt vor.", "read"],
    ["de", "Welche Dateien liegen im Ordner backup?", "ls"],
    ["fr", "Montre-moi le contenu de todo.md.", "read"],
    ["fr", "Qu'y a-t-il dans le dossier photos ?", "ls"],
  ],
  "searching files": [
    ["en", "Where in my files is the word 'password' mentioned?", "grep"],
    ["en", "Find all PDFs in the workspace.", "find glob"],
    ["de", "In welchen Dateien kommt 'Rechnung 2025' vor?", "grep"],
    ["de", "Suche alle Dateien, die auf .log enden.", "find glob"],
    ["fr", "Cherche le mot « facture » dans tous les fichiers.", "grep"],
    ["fr", "Trouve tous les fichiers CSV.", "find glob"],
  ],
  "changing files": [
    ["en", "Save this list as shopping.txt: milk, bread, eggs.", "write"],
    ["en", "Change the port in settings.toml from 80 to 8080.", "edit"],
    ["de", "Schreib eine Zeile ans Ende von tagebuch.md: Heute Regen.", "append"],
    ["de", "Lege eine Datei hallo.txt mit dem Text 'Hallo' an.", "write"],
    ["fr", "Remplace « Paris » par « Lyon » dans adresse.txt.", "edit"],
    ["fr", "Applique ce patch aux fichiers du projet.", "apply_patch"],
  ],
  "shell and jobs": [
    ["en", "Run the script build.sh.", "bash"],
    ["en", "Is the long job from earlier done yet?", "jobs"],
    ["de", "Führe den Befehl 'uname -a' aus.", "bash"],
    ["de", "Brich den laufenden Auftrag ab.", "jobs"],
    ["fr", "Exécute la commande ls -l /tmp.", "bash"],
    ["fr", "Compile le projet avec make.", "bash"],
  ],
  git: [
    ["en", "What did I change in the repository since the last commit?", "git_diff git_status"],
    ["en", "Commit everything with the message 'fix typo'.", "git_commit"],
    ["de", "Zeig die letzten fünf Commits.", "git_log"],
    ["de", "Auf welchem Branch bin ich?", "git_branch git_status"],
    ["fr", "Y a-t-il des modifications non validées dans le dépôt ?", "git_status"],
    ["fr", "Montre l'historique des commits.", "git_log"],
  ],
  web: [
    ["en", "Search the web for tomorrow's football results.", "websearch"],
    ["en", "Summarise the page https://example.org/news.", "webfetch"],
    ["de", "Suche im Internet nach Rezepten für Zwiebelkuchen.", "websearch"],
    ["de", "Wie benutzt man useState in React? Schau in der Dokumentation nach.", "codesearch"],
    ["fr", "Que dit la page https://example.org/horaires ?", "webfetch"],
    ["fr", "Cherche sur internet les dernières nouvelles.", "websearch"],
  ],
  "browser and display": [
    ["en", "Open example.org in the browser and click on Login.", "browser"],
    ["en", "Draw me a chart of these numbers: 3, 5, 9.", "canvas"],
    ["de", "Öffne die Webseite und füll das Formular aus.", "browser"],
    ["de", "Zeig mir die Werte als Diagramm.", "canvas"],
    ["fr", "Ouvre le site et clique sur « Connexion ».", "browser"],
    ["fr", "Affiche un graphique de ces valeurs.", "canvas"],
  ],
  "person and to-do": [
    ["en", "Put 'water the plants' on your to-do list.", "todowrite"],
    ["en", "Before you delete anything, ask me which folder I mean.", "question"],
    ["de", "Was steht noch auf der Aufgabenliste?", "todoread"],
    ["de", "Frag mich, welche Farbe ich möchte.", "question"],
    ["fr", "Ajoute « appeler le plombier » à la liste des tâches.", "todowrite"],
    ["fr", "Qu'est-ce qui reste à faire sur la liste ?", "todoread"],
  ],
  "delegation and skills": [
    ["en", "Have a sub-agent read all the reports and sum them up.", "task"],
    ["en", "Use the skill for invoices.", "skill"],
    ["de", "Lass einen Unteragenten alle Protokolle durchsehen.", "task"],
    ["de", "Lade die Anleitung für die Bewässerung.", "skill"],
    ["fr", "Délègue cette recherche à un sous-agent.", "task"],
    ["fr", "Quelle compétence as-tu pour les sauvegardes ? Charge ses instructions.", "skill"],
  ],
  "other agents and machines": [
    ["en", "Ask the agent in the kitchen how warm it is there.", "edge_call find_agents"],
    ["en", "Which other devices are there in this home?", "find_agents agents_list"],
    ["de", "Frag den Server im Keller nach seiner Auslastung.", "edge_call find_agents"],
    ["de", "Füge die Maschine build01 über SSH hinzu.", "nodes"],
    ["fr", "Quels autres agents sont en ligne ?", "agents_list find_agents"],
    ["fr", "Demande à l'agent du garage si la porte est ouverte.", "edge_call find_agents"],
  ],
  sessions: [
    ["en", "Start a background session that watches the prices.", "sessions_spawn"],
    ["en", "Which sessions were active in the last hour?", "sessions_list"],
    ["de", "Schick der Sitzung 'Einkauf' eine Nachricht: Bitte auch Milch.", "sessions_send"],
    ["de", "Was wurde in der Sitzung von gestern besprochen?", "sessions_history"],
    ["fr", "La session « rapport » a-t-elle fini ?", "session_status"],
    ["fr", "Montre la liste des sessions.", "sessions_list"],
  ],
};

export const QUESTIONS = questionsOf(FAMILIES);

export function questionsOf(families: Readonly<Record<string, readonly Row[]>>): ToolQuestion[] {
  return Object.entries(families).flatMap(([family, rows]) =>
    rows.map(([language, text, tools]) => ({ family, language, text, tools: tools.split(" ") })),
  );
}
