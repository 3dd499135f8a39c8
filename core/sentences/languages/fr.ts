import type { LanguageData } from "../language.ts";

/** French. */
export const fr: LanguageData = {
  code: "fr",
  numbers: {
    small:
      "zéro,un|une,deux,trois,quatre,cinq,six,sept,huit,neuf,dix,onze,douze,treize,quatorze,quinze,seize,dix sept,dix huit,dix neuf",
    tens: "vingt,trente,quarante,cinquante,soixante,soixante dix|septante,quatre vingts|quatre vingt|huitante|octante,quatre vingt dix|nonante",
    join: "T U|T et U",
    hundred: "cent",
    more: {
      71: "soixante et onze|soixante onze|septante et un",
      72: "soixante douze|septante deux",
      73: "soixante treize|septante trois",
      74: "soixante quatorze|septante quatre",
      75: "soixante quinze|septante cinq",
      76: "soixante seize|septante six",
      91: "quatre vingt onze|nonante et un",
      92: "quatre vingt douze|nonante deux",
      93: "quatre vingt treize|nonante trois",
      94: "quatre vingt quatorze|nonante quatre",
      95: "quatre vingt quinze|nonante cinq",
      96: "quatre vingt seize|nonante six",
    },
  },
  phrases: {
    filler:
      "également, réellement, euh, si vous le souhaitez, à la fois, l air, le, la, les, l, de, du, des, d, de la, de l, mon, ma, mes, ton, ta, tes, son, sa, ses, notre, nos, votre, vos, leur[s], ce, cet, cette, ces, moi, nous, me, m, te, s il (te|vous) plaît, stp, svp, please, merci, merci beaucoup, maintenant, tout de suite, immédiatement, vite, rapidement, actuellement, en ce moment, actuel[le|les|s], présentement, là, là bas, donc, juste, bonjour, salut, coucou, hey, hé, ok, okay, bon, bien, alors, encore, de nouveau, à nouveau, un peu, gentiment, aujourd hui, pour moi, exactement, toujours, est ce, dehors, complètement, entièrement, totalement, niveau, degré de, niveau de, y, la tâche [en cours|actuelle] [de|du|des], (le|du|les) (contenu multimédia|contenu|média|médias|film|musique) (sur|de), la (session|lecture) (sur|de), pour nettoyer, pour aspirer, si (vous voulez|tu veux|possible|vous le voulez bien|tu veux bien), trop (fort|faible|haut|bas|élevé), voulez vous, veux tu, s il (te|vous) plait, soit, soient, le courant (de|du), l alimentation (de|du)",
    prep: "pour, avec, à",
    in: "dans, dans (le|la|les|l), à (la|l), au, aux, sur, sur (le|la|les|l), en, chez, du côté de, dans toutes les pièces (du|de la|de l|des|au)",
    a: "un, une",
    request:
      "(peux|pourrais|veux|voudrais) tu [bien], [est ce que] tu (peux|pourrais|veux) [bien], (pouvez|pourriez|voulez|voudriez) vous [bien], [est ce que] vous (pouvez|pourriez) [bien], (je veux|je voudrais|j aimerais|j aimerais bien|je souhaite|je souhaiterais|il faudrait|il faut|faut) [que tu|que vous|qu on], veuillez, merci de, (peut|pourrait) on, on (peut|pourrait), (pouvons|pourrions) nous, serait il possible de, est il possible de, aide moi à, j ai besoin (de|d|que tu|que vous), tu dois, vous devez, (j aimerais|je voudrais|je veux) savoir, sais tu, savez vous, tu sais, sois gentil et, ayez l obligeance de, allez, va, s il te plaît peux tu, ce serait bien (de|que tu|que vous), il est temps (de|d), pense à, pensez à, n hésite[z] pas à, j ai envie (de|d), j ai besoin (du|des), (cela|ça) (vous|te) dérangerait [il] de, (auriez vous|aurais tu) la (gentillesse|bonté) de, (pouvez vous|peux tu|pourriez vous|pourrais tu) [s il vous plaît], je (veux|voudrais|souhaite) que ce soit, tu voudrais bien, tu pourrais [bien], vous pourriez [bien], ce serait possible de, je te demande de, je vous demande de, (je veux|je voudrais|je souhaite|j aimerais|j aimerais bien) (que|qu)",
    do: "(mets|met|mettez|mettre|mettes|mettiez|mettons|remets|remettez|remettre|règle|règles|réglez|régler|réglez|change|changes|changez|changer|ajuste|ajustes|ajustez|ajuster|passe|passes|passez|passer|fais|fait|faites|faire|fasses|fassiez|place|placez|placer|fixe|fixez|fixer|positionne|positionnez|positionner|définis|définissez|définir|configure|configurez|configurer|laisse|laissez|laisser|rends|rendez|rendre|tourne|tournez|tourner|modifie|modifiez|modifier|amène|amenez|ferme|fermez|fermer|envoie|envoyez|envoyer|renvoie|renvoyez|renvoyer|ramène|ramener|ramenez|rentre|retourne|règlez|choisis|choisissez|choisir|sélectionne|sélectionnez), remplac(e|es|er|ez), transform(e|es|er|ez), cré(e|er|ez), colori(e|er|ez), (faire|fais|faites) briller, (illumine|éclaire|colore|teinte)[r|z], (donne|donnez|donner) à, (dirige|dirigez|diriger|remets|ramène|ramenez), baigne[r|z], (utilise|utilisez), retourn(e|es|er|ez), (pein|pei)(s|dre|gnez), (rappel|rappell)(e|er|ez), fais revenir, faites revenir, (convert|conver)(is|ir|issez|tis|tir|tissez), (appliqu|attribu|teint|baign)(e|es|er|ez), (laissez|laisse) briller, faisons, ayons, devienne[nt], passe[nt], (mets|mettez|mettre|mettons) le mode de, actionn(e|er|ez)",
    "act:turn_on":
      "(allum|rallum|enclench|branch|illumin|éclair)(e|es|er|ez|iez), activ(e|es|er|ez|iez), réactive[r|z], (mets|met|mettez|mettre) (en marche|en route), (mets|met|mettez|mettre) sous tension, remettre en (marche|route), faire marcher, fais marcher",
    "act:turn_off":
      "étei(ns|nt|n|ndre|nds|gnez|gnes|gniez|gnons), (désactiv|coup|débranch)(e|es|er|ez|iez), (mets|mettez|mettre) hors (tension|service), (mets|mettez|mettre) (à l arrêt|en veille)",
    "act:toggle":
      "(bascul|commut|invers)(e|es|er|ez|iez), (bascul|chang|invers)(e|es|er|ez) l état, permute[r|z], (activer|allumer|active|activez|allume|allumez|ouvrir|ouvre) ou (désactiver|éteindre|désactive|désactivez|éteins|éteignez|fermer|ferme), (modifi|chang|invers|bascul)(e|es|er|ez|iez) (l état|la position|le statut), [une] bascule rapide (de|du)",
    "act:open":
      "ouvr(e|es|ir|ez|iez), rouvre, rouvrir, (déploi|déroul|relèv|soulèv|soulev)(e|es|ez|er|iez), déployer, relever",
    "act:close":
      "ferm(e|es|er|ez|iez), referme[r|z], clo(s|re), (enroul|rabats|repli)(e|ez|er), tir(e|ez|er)",
    "act:stop":
      "(arrêt|stopp|interromp|cess)(e|es|er|ez|iez), stop, stoppe, interromps, interrompre, fais taire, faites taire, termine[r|z], termin(e|er|ez) la (session|lecture|tâche) [sur], (arrêt|stopp)(e|es|er|ez) (le nettoyage|la lecture|la tâche|la musique) [sur], (cess)(e|er|ez) (le nettoyage|la lecture) (de|du)",
    "act:pause/stop": "gel(e|er|ez|es)",
    "act:lock":
      "(verrouill|barr|bloqu|sécuris)(e|es|er|ez|iez), (ferme|fermes|fermez|fermer) à (clé|clef), (ferme|fermes|fermez|fermer) le verrou [de|du|de la]",
    "act:unlock": "(déverrouill|débarr|débloqu)(e|es|er|ez|iez)",
    "act:start":
      "(démarr|lanc|commenc|relanc)(e|es|er|ez|iez), reprends, reprenez, reprendre, fais tourner, (fais|faites|faire) (démarrer|partir), joue[r|z], lire, lis, (lance|démarre|commence|commencez) (le nettoyage|la lecture|à jouer|à nettoyer) (de|du|avec|sur), commenc(e|es|er|ez) (à passer l aspirateur|à aspirer|à nettoyer|le nettoyage|la lecture|l aspiration) [avec|sur], (lanc|démarr)(e|es|er|ez) (le nettoyage|la lecture|l aspiration) [avec|sur], jou(e|er|ez) (de la|la) musique (sur|avec)",
    "act:pause":
      "(mets|met|mettez|mettre|mettes) en pause, (fais|faites|faire) une pause, suspend[s|re|ez], pause, (suspends|suspendez|interromps) (la lecture|le nettoyage|la tâche) [sur], (suspend|suspends|suspendre|suspendez|interromps|interrompre|interrompez) (la lecture|le nettoyage|la tâche|l aspiration) [sur], paus(e|er|ez), (mets|mettez|mettre) en pause (le nettoyage|la tâche|la lecture|l aspiration) [sur]",
    "act:dock":
      "(renvoi|envoi)(e|es), (renvoy|envoy)(er|ez|iez), (retourn|ramèn|rentr|rang|recharg)(e|er|ez), ramener, ramenez, (fais|faites) (rentrer|revenir|retourner), gare, (rappel|rappell)(e|er|ez), (fais|faites|faire) revenir",
    "act:locate": "(trouv|localis|cherch|retrouv)(e|er|ez)",
    "act:press": "appuie [sur], appuyez [sur], appuyer [sur], presse, déclench(e|es|er|ez), exécute[r|z]",
    "particle:turn_on": "on, en marche, en route, sur on, en fonction, sous tension",
    "particle:turn_off": "off, à l arrêt, sur off, en veille, hors tension, hors service",
    "particle:open": "en haut, vers le haut, grand ouvert[e|s|es]",
    "particle:close": "en bas, vers le bas",
    "particle:lock": "à clé, à clef",
    "particle:pause":
      "en pause, en pause (un instant|un moment|pour l instant|pour le moment|quelques instants)",
    "particle:start": "au travail",
    "particle:dock":
      "à (la|sa) base, à (la|sa) (station|borne|maison|station de charge|base de chargement), au dock, à son socle, se recharger, en charge, au garage, dans sa station, vers sa base, à la niche, sur sa base, vers (la|sa) (base|station|borne|station de charge), (sur|dans) sa (station|station de charge|borne), à la maison, à (sa|la) (station d accueil|base d accueil|station de recharge|base de recharge|borne de recharge), à son (socle|dock|chargeur|quai), au (chargeur|socle)",
    "change:raise":
      "(augment|mont|hauss|élèv|remont)(e|es|er|ez|iez), (mets|met|mettez) plus, plus haut, davantage [de], accroîs, élever, accroître, lever, lève[z]",
    "change:lower":
      "(baiss|diminu|abaiss|descend|réduis)(e|es|er|ez|iez), (descend|rédui|descends)(s|re|ez), réduire, réduisez, moins [haut], plus bas, redescend[s|re]",
    "change:raise reading:brightness":
      "plus (lumineux|lumineuse|clair|claire|brillant|brillante|intense), éclairci[s|r], plus de lumière, intensifie[r|z], (augment|mont|hauss|remont)(e|es|er|ez) la lumière (de|du|de la|de l|dans la|dans le)",
    "change:lower reading:brightness":
      "(tamis|atténu)(e|es|er|ez), assombri[s|r|ssez|sse], plus sombre, moins (lumineux|lumineuse|clair|claire), moins de lumière, (baiss|diminu|abaiss)(e|es|er|ez) la lumière (de|du|de la|de l|dans la|dans le), réduis la lumière (de|du|de la|de l)",
    "change:raise reading:temperature":
      "plus chaud[e], (réchauff|chauff)(e|es|er|ez), monte le chauffage, plus de chauffage",
    "change:lower reading:temperature":
      "plus (froid|froide|frais|fraîche), refroidi[s|r|ssez], rafraîchi[s|r]",
    "change:raise reading:volume":
      "plus fort, plus bruyant, monte le son, augmente le son, plus de (son|volume)",
    "change:lower reading:volume":
      "moins fort[e], moins bruyant, baisse le son, diminue le son, moins de (son|volume)",
    "change:raise reading:speed": "plus (vite|rapide|rapidement), accélèr(e|es|ez|er), accélère",
    "change:lower reading:speed":
      "moins (vite|rapide), plus (lent|lentement|doucement), ralenti[s|r|ssez|sse]",
    ensure:
      "(confirme|confirmez) (que|qu), (doit|doivent) être, assure toi (que|qu), assurez vous (que|qu), vérifi(e|ez) (que|qu), fais en sorte (que|qu), faites en sorte (que|qu), (je veux|je voudrais|j aimerais|il faut|il faudrait|je souhaite) (que|qu), j ai besoin (que|qu), il faudrait (que|qu)",
    be: "est, sont, (est|sont) (il|elle|ils|elles), il y a, y a t il, y a, il fait, fait il, fait, être, se trouve[nt], (t il|t elle), en train (de|d), reste, il reste, restent, reste t il, on est, est on, (qui|qu) (est|sont), qu il fait, est ce qu il y a, serait, ont, a, encore, n (est|sont) (il|elle|ils|elles) pas, n est ce pas que, avons nous [laissé|oublié], fait elle",
    exist:
      "y a t il, il y a, y a, [est ce que] tu (connais|vois|contrôles), (connais|vois) tu, connaissez vous, avons nous, est ce qu il y a, on a, sont connu[s|es], sont connecté[s|es], existe t il, qu on a",
    show: "(dis|dites|donne|donnez|montre|montrez|affiche|affichez|indique|indiquez|liste|listez|énumère|lis|lisez|vérifie|vérifiez|nomme|précise|regarde|annonce|confirme), (dire|donner|montrer|afficher|indiquer|lister|lire|vérifier|consulter|voir|connaître|savoir|obtenir|nommer|confirmer), fais moi voir, dis m en plus sur, qu en est il (de|du|des|d), fais moi un point sur, et, contrôle, consulte, parle moi de, vérification, lecture, (dis|dites) moi [tout] (sur|à propos de), (parle|parlez) moi (de|du), (donne|donnez|donner) moi, informe[z] moi sur, me (donner|dire|indiquer|montrer)",
    "ask:value":
      "quel[le|s|les] [est|sont|etait], (quel|quelle) est (le|la|l), à combien [est|sont], c est quoi, qu est ce que, quoi, combien [est|sont], c est combien, à quoi, à quel[le] [est], de combien est, que dit, qu indique, que vaut, combien (consomme|affiche|indique), à quel niveau est, sur quoi est, ce qui est, ce que",
    "ask:which": "quel[le|s|les] [est|sont], lequel, laquelle, lesquels, lesquelles, qu est ce qui [est]",
    "ask:count":
      "combien (de|d|y a t il de|y a t il d), (nombre|le nombre) (de|d), compte [les], il y a combien (de|d)",
    "ask:any":
      "quelque chose, (y a t il|il y a|y a|est ce qu il y a|reste t il|il reste) (des|encore des|quelque chose), y a t il (un|une) [des|de|du], l une des, un des, une des",
    "ask:yes_no":
      "est ce (que|qu), (vérifie|vérifiez|regarde|regardez) (si|s), (sais tu|savez vous|tu sais) (si|s), (je veux|je voudrais|j aimerais) savoir (si|s), vérifier (si|s), (peux tu|pourrais tu|pouvez vous|pourriez vous) vérifier (si|s), savoir (si|s), (me|nous) dire (si|s), ou (non|pas|quoi|quelque chose du genre|quelque chose comme ça), (confirmer|confirme|confirmez|vérifier|voir|regarder) (si|s)",
    "show ask:yes_no": "(dis|dites) moi (si|s)",
    "state:on":
      "(allumé|activé|branché|enclenché)(e|s|es), d allumé, on, en marche, en route, acti(f|fs|ve|ves), en fonction, sous tension, éclairé[e|s|es], brille, alimenté[e], souffle, déclenché[e|s], laissé allumé[e|s|es], soit (allumé|activé|branché|enclenché)",
    "be state:on": "(est|est il|est elle) (allumé|activé|branché|enclenché)",
    "state:off":
      "éteint[e|s|es], (désactivé|coupé|débranché)(e|s|es), off, à l arrêt, arrêté[e|s|es], inactif, inactive, hors tension, soit (désactivé|coupé|débranché)",
    "be state:off": "(est|est il|est elle) (désactivé|coupé|débranché)",
    "or state:off": "ou (désactivé|coupé|débranché)",
    "state:open":
      "ouvert[e|s|es], s est ouvert[e], est ouvert[e], entrouvert[e], remonté[s|es], levé[s|es], relevé[s], laissé ouvert[e|s|es], resté[e|s] ouvert[e|s], descellé[e|s]",
    "state:open becomes": "s ouvre[nt]",
    "state:closed":
      "fermé[e|s|es], refermé[e|s|es], s est fermé[e], clos[e|es], baissé[e|s|es], descendu[s|es], abaissé[s], réduit[s|e|es], tiré[s|e|es], resté[e|s] fermé[e|s], scellé[e|s]",
    "state:closed becomes": "se ferme[nt]",
    "state:locked":
      "(verrouillé|barré)[e|s|es], fermé[e|s|es] à (clé|clef), (sécurisé|bloqué)[e|s|es], boulonné[e|s], cadenassé[e|s]",
    "state:locked becomes": "se verrouille",
    "state:unlocked": "(déverrouillé|débarré)[e|s|es], (pas|non) (verrouillé|sécurisé)[e]",
    "state:unlocked becomes": "se déverrouille",
    "state:moving":
      "en mouvement, en train de bouger, en train (d ouvrir|de fermer|de s ouvrir|de se fermer), en train d ouvrir ou de fermer, s ouvre ou se ferme, (en train de|entrain de) tourner",
    "state:motion":
      "[du|un|le|de] mouvement[s], mouvement[s] détecté[s], du mouvement est détecté, détecte (un|du|des) mouvement[s], quelque chose bouge, quelqu un bouge, ça bouge, bouge, un mouvement est détecté",
    "state:no_motion": "aucun mouvement, pas de mouvement",
    "state:occupied": "occupé[e|s|es], quelqu un, présence, une présence, du monde, détecte quelqu un",
    "state:wet":
      "mouillé[e|s], humide, inondé[e], [une|de la|une] fuite [d eau], [de l] eau, fuit, détecte (de l eau|une fuite), fuite[s]",
    "state:dry": "sec, sèche, secs",
    "state:smoke": "[de la] fumée [détectée], détecte de la fumée",
    "state:gas": "[du] gaz [détecté], détecte du gaz",
    "state:online":
      "en ligne, joignable[s], connecté[e|s|es], disponible[s], accessible[s], de retour, vivant",
    "state:online becomes": "revient, revient en ligne, passe en ligne",
    "state:offline":
      "hors ligne, injoignable[s], déconnecté[e|s|es], indisponible[s], inaccessible[s], hors service, mort",
    "state:offline becomes": "tombe, passe hors ligne",
    "state:home": "à la maison, chez (moi|nous|lui|elle)",
    "state:away": "absent[e|s], sorti[e|s], parti[e|s]",
    "state:charging": "en charge, en train de charger, charge, en cours de charge",
    "state:low_battery":
      "[une] (pile|piles|batterie|batteries) [est|sont] [presque] (faible|faibles|vide|vides), batterie basse, presque vide, presque déchargé[e]",
    "state:running":
      "en cours [d exécution|d utilisation], tourne[nt], marche, fonctionne[nt], en fonctionnement, en train de tourner",
    "state:running becomes": "démarre, commence",
    "state:finished":
      "(fini|terminé)[e|s|es], a fini, a terminé, est (fini|finie|terminé|terminée), prêt[e], (a fini|a terminé) de tourner, au bout",
    "state:finished becomes": "finit, se termine, s arrête",
    "state:cleaning":
      "en train (de nettoyer|d aspirer|de tondre|de passer l aspirateur), nettoie, aspire, tond, en nettoyage",
    "state:docked": "à sa base, sur sa base, à la base, sur sa station, à la station, rentré[e]",
    "state:paused": "en pause, une pause, suspendu[e]",
    "state:heating": "en train de chauffer, chauffe, en chauffe",
    "state:cooling": "en train de refroidir, refroidit",
    "state:playing":
      "en lecture, en train de jouer, joue, en train de lire, diffusé[e], joué[e], en cours (de lecture|de diffusion), lu, diffuse, en train de diffuser",
    "state:on becomes": "s allume[nt], se (met|mettent) en marche, s active[nt]",
    "state:off becomes": "s éteint, s éteignent, se désactive[nt]",
    "type:light": "(lampe|lumière|ampoule|éclairage|luminaire|led|spot|lampadaire|lustre|projecteur)",
    "type:light+": "lampes, lumières, ampoules, éclairages, luminaires, leds, spots, lampadaires",
    "type:plug": "prise [connectée|électrique|intelligente]",
    "type:plug+": "prises [connectées|électriques|intelligentes]",
    "type:switch": "interrupteur, commutateur, relais",
    "type:switch+": "interrupteurs, commutateurs",
    "type:fan": "ventilateur, ventilo, ventilation, vmc, extracteur, hotte, aération, ventilateur climatique",
    "type:fan+": "ventilateurs, ventilos",
    "type:cover": "couverture, bâche",
    "type:blind": "store, jalousie",
    "type:blind+": "stores, jalousies",
    "type:shutter": "volet [roulant]",
    "type:shutter+": "volets [roulants]",
    "type:curtain": "rideau, voilage",
    "type:curtain+": "rideaux, voilages",
    "type:awning": "auvent, store banne",
    "type:awning+": "auvents",
    "type:window": "fenêtre, velux",
    "type:window+": "fenêtres",
    "type:door": "porte",
    "type:door+": "portes",
    "type:garage_door": "porte (du|de) garage, garage",
    "type:garage_door+": "portes (du|de) garage",
    "type:gate": "portail, portillon, barrière",
    "type:gate+": "portails",
    "type:valve": "vanne, électrovanne, robinet",
    "type:valve+": "vannes, robinets",
    "type:lock": "serrure, verrou",
    "type:lock+": "serrures, verrous",
    "type:heating": "chauffage, radiateur, chaudière, poêle, convecteur",
    "type:heating+": "chauffages, radiateurs",
    "type:cooling": "clim, climatisation, climatiseur, air conditionné",
    "type:cooling+": "climatiseurs, clims",
    "type:thermostat": "thermostat, cvc, système [de chauffage|de climatisation|de cvc], cvc",
    "type:thermostat+": "thermostats",
    "type:humidifier": "humidificateur, déshumidificateur",
    "type:water_heater": "chauffe eau, ballon d eau chaude, cumulus",
    "type:vacuum": "aspirateur [robot], robot [aspirateur|laveur|de nettoyage], robot",
    "type:vacuum+": "aspirateurs, robots aspirateurs, robots",
    "type:mower": "tondeuse [à gazon], robot tondeuse, robot de tonte",
    "type:mower+": "tondeuses",
    "type:siren": "sirène",
    "type:siren+": "sirènes",
    "type:alarm": "alarme, système d alarme",
    "type:media_player": "lecteur [multimédia|média|de musique], chaîne hifi, chaîne, ampli",
    "type:media_player+": "lecteurs [multimédia]",
    "type:television": "télé, télévision, tv, téléviseur, télévise",
    "type:television+": "télés, télévisions, téléviseurs",
    "type:speaker": "enceinte, haut parleur",
    "type:speaker+": "enceintes, haut parleurs",
    "type:camera": "caméra",
    "type:camera+": "caméras",
    "type:pump": "pompe",
    "type:pump+": "pompes",
    "type:sprinkler": "arrosage [automatique], arroseur, irrigation",
    "type:sprinkler+": "arroseurs",
    "type:washing_machine": "machine à laver, lave linge, lessive",
    "type:dryer": "sèche linge",
    "type:dishwasher": "lave vaisselle",
    "type:oven": "four",
    "type:fridge": "frigo, réfrigérateur, frigidaire",
    "type:fridge+": "frigos",
    "type:freezer": "congélateur, congélo",
    "type:coffee_machine": "cafetière, machine à café, machine à expresso",
    "type:sensor": "capteur, détecteur, sonde",
    "type:sensor+": "capteurs, détecteurs",
    "type:thermometer": "thermomètre, capteur de température",
    "type:thermometer+": "thermomètres",
    "type:motion_sensor": "(capteur|détecteur) de (mouvement|présence)",
    "type:motion_sensor+": "(capteurs|détecteurs) de (mouvement|présence)",
    "type:smoke_detector": "(détecteur|capteur) de fumée",
    "type:smoke_detector+": "détecteurs de fumée",
    "type:leak_sensor": "(détecteur|capteur) de fuite, détecteur d eau",
    "type:leak_sensor+": "détecteurs de fuite",
    "type:button": "bouton",
    "type:scene": "scène, ambiance, script, scénario",
    "type:scene+": "scènes",
    "type:machine": "ordinateur, serveur, machine, pi, raspberry, raspberry pi, agent, ordi",
    "type:machine+": "ordinateurs, serveurs, machines, agents",
    "type:device": "appareil, chose, objet",
    "type:device+": "appareils, choses, objets",
    "act:start type:mower":
      "(tonds|tondre|tondez) [la pelouse|le gazon], (lance|démarre) la tonte [de la pelouse|du gazon], commence à tondre",
    "act:dock type:mower":
      "(arrête|arrêter) (la tonte|de tondre) [de la pelouse|la pelouse], (arrête|arrêtez|arrêter) de (tondre|couper) [la pelouse|l herbe|le gazon], (arrête|arrêtez|arrêter) la tonte",
    "act:dock type:vacuum":
      "(arrête|arrêtez|arrêter) (d aspirer|de passer l aspirateur|de nettoyer|le ménage|le nettoyage)",
    "act:lock type:lock": "(activ|enclench)(e|ez|er) le verrou",
    "act:unlock type:lock": "(désactiv)(e|ez|er) le verrou, (ouvre|ouvrez|ouvrir) le verrou",
    "reading:volume bound:minimum":
      "coup(e|es|er|ez) le (son|volume) [de|du|sur], (mets|met|mettez|mettre) en (sourdine|muet), en (sourdine|muet)",
    "reading:volume be": "(volume|son) est il (coupé|trop fort|élevé)",
    "act:start type:vacuum": "(aspire|aspirer|nettoie), (passe|passer|passez) l aspirateur",
    "act:turn_on type:light":
      "(ouvre|ouvrez|ouvrir) (la|ma) (lumière|lampe), (allum|rallum|illumin|éclair)(e|es|er|ez|iez), (mets|met|mettre|mettez|fais|donne) [de] la lumière",
    "act:turn_on type:light+": "(ouvre|ouvrez|ouvrir) les (lumières|lampes)",
    "act:turn_off type:light":
      "(ferme|fermez|fermer) (la|ma) (lumière|lampe), étei(ns|nt|ndre|gnez|gnes|gniez)",
    "act:turn_off type:light+": "(ferme|fermez|fermer) les (lumières|lampes)",
    "reading:state": "état, statut, condition, situation, mise à jour, nouvelles",
    "reading:temperature": "température [ambiante|intérieure|de l air|de la pièce]",
    "reading:target_temperature":
      "(consigne|température de consigne|température cible|température réglée|température souhaitée)",
    "reading:humidity": "humidité, taux d humidité, humidité (relative|de l air), hygrométrie",
    "reading:carbon_dioxide": "[taux de] co2, [taux de] co 2, dioxyde de carbone, gaz carbonique",
    "reading:air_quality": "qualité de l air",
    "reading:pm25": "particules [fines], pm 2.5, pm 25",
    "reading:illuminance": "éclairement, lux, lumière ambiante, luminosité ambiante",
    "reading:pressure": "pression [atmosphérique|de l air]",
    "reading:power": "puissance, consommation, consommation électrique, watts",
    "reading:energy": "énergie, consommation d énergie, électricité, kilowattheures",
    "reading:voltage": "tension, voltage",
    "reading:current": "ampérage, intensité du courant",
    "reading:battery": "batterie, pile, niveau de (batterie|pile|charge), charge de la batterie, autonomie",
    "reading:brightness": "[avec la] luminosité, intensité [lumineuse], clarté, niveau de luminosité",
    "reading:color": "couleur, teinte",
    "reading:color_temperature": "température de (couleur|blanc), température de la couleur",
    "reading:position": "position, ouverture, hauteur",
    "reading:speed": "vitesse [de rotation]",
    "reading:volume": "volume [sonore], son, niveau sonore, niveau du son",
    "reading:mode": "mode [de fonctionnement], programme, préréglage",
    "reading:level": "niveau d eau, niveau de remplissage, niveau du réservoir",
    "reading:wind_speed": "vent, vitesse du vent",
    "reading:precipitation": "pluie, précipitations",
    "reading:signal_strength": "signal, puissance du signal, réception, force du signal",
    "reading:disk":
      "disque [dur], espace [disque|libre], espace (libre|disponible), espace (sur le disque|disque libre), stockage, place sur le disque, place, espace de stockage, carte sd, place libre",
    "reading:memory": "mémoire [vive|libre|utilisée], ram",
    "reading:load": "charge [système|moyenne|du système|du processeur|cpu], cpu, processeur",
    "reading:uptime": "uptime, durée de fonctionnement, temps de fonctionnement",
    "reading:services": "services [actifs|en cours], services qui tournent, services tournent",
    "reading:failed_services":
      "services (en échec|en panne|échoués|plantés), service (en échec|en panne|planté), services ont (échoué|planté)",
    "reading:log": "journal, journaux, log[s], dernières lignes (du|dans le) (journal|log)",
    "reading:log_errors": "[dernières] erreurs [dans le journal|du journal|dans les logs|du log]",
    "reading:address": "adresse [ip|réseau], ip",
    "reading:processes":
      "processus [en cours|actifs|qui tournent], programmes [en cours], processus tournent, programmes tournent",
    "reading:picture": "photo, image, capture, prends une photo, prends une image, prenez une photo",
    "reading:version": "version [du logiciel|logicielle]",
    "ask:value reading:temperature":
      "(il fait|fait il) (combien|chaud|froid), combien fait il, (quelle température) (fait il|il fait), (quelle|combien de) (température|degrés) (fait il|y a t il|il fait), combien de degrés [fait il|y a t il], quelle chaleur fait il, est ce qu il fait (chaud|froid), fait il (chaud|froid), quelle température, il fait quelle température, à quelle température (est|sont)",
    "ask:value reading:humidity":
      "est ce (humide|que c est humide), à quel point est ce humide, quel taux d humidité, c est humide, quelle humidité",
    "ask:value reading:brightness":
      "à quel point est (lumineux|lumineuse), à quelle luminosité est, quelle luminosité",
    "ask:value reading:illuminance": "fait il (sombre|clair), il fait (sombre|clair)",
    "ask:value reading:air_quality": "comment est l air, l air est (bon|comment)",
    "ask:value reading:uptime":
      "depuis (quand|combien de temps) (tourne|fonctionne|est allumé|est allumée|est en marche|tourne t il), depuis combien de temps",
    "ask:value reading:speed": "à quelle vitesse [est|tourne], quelle vitesse",
    "ask:value reading:volume": "à quel volume [est]",
    "ask:value reading:position":
      "à quel point est (ouvert|ouverte), à quelle hauteur [est|sont], à quelle position [est|sont]",
    "ask:value reading:state":
      "comment (va|vont|se porte|est|sont), dans quel état [est|sont|se trouve], (que se passe t il|quoi de neuf) (avec|sur|de|du), (est|sont) (il|elle) comment, que fait, que font, que se passe t il [actuellement|en ce moment] (avec|sur|dans|à), ce qui se passe (avec|sur|dans|à), quel[le|les] (est la|sont les) dernière[s] (mise à jour|nouvelle|nouvelles) (sur|de|du|des), (une|des) (mise à jour|mises à jour|nouvelle|nouvelles|info|infos) (sur|de|du|des), où en (est|sont), qu est ce qui (est|passe|joue) [diffusé|joué|lu|en cours de lecture|actuellement|en ce moment] (sur|à|dans), qu est ce qui est (diffusé|joué|lu) [actuellement|en ce moment] (sur|à|dans), que passe t il (sur|à|dans), tout va bien avec, quoi de neuf (avec|sur|du côté de), quelles nouvelles (de|du|sur)",
    "ask:value reading:power":
      "combien (de watts|d électricité) [consomme|utilise], combien consomme[nt], combien de courant, quelle puissance",
    "ask:value reading:energy": "combien d énergie [consomme], combien de kilowattheures",
    "ask:value reading:battery": "combien de batterie, quelle batterie",
    "ask:value reading:disk":
      "combien (de place|d espace) [libre|disque], le disque est il plein, à quel point est plein le disque, est ce que le disque est plein",
    "ask:value reading:processes": "qu est ce qui tourne, ce qui tourne",
    "ask:which everything": "qu est ce qui est, tout ce qui est",
    all: "(tout|tous|toute|toutes) [le|les|la], l ensemble (des|de|du), les deux",
    each: "chaque, chacun[e] (des|de)",
    everything:
      "tout, (tous|toutes) les (appareils|choses), l ensemble, tous mes appareils, tous les équipements",
    "it:one": "il, elle, ça, cela, lui, celui ci, celle ci, celui là, celle là",
    "it:many": "ils, elles, ceux ci, celles ci, eux",
    "act:turn_on it:one": "(allum|rallum)(e|ez) (la|le), l allum(er|es|iez), l activer",
    "act:turn_on it:many": "(allum|rallum)(e|ez) les, les allumer",
    "act:turn_off it:one":
      "(éteins|éteint|éteignez|coupe|arrête) (la|le), l (éteindre|éteignes|éteigniez|arrêter)",
    "act:turn_off it:many": "(éteins|éteint|éteignez|coupe|arrête) les, les éteindre",
    "act:open it:one": "(ouvre|ouvrez|rouvre) (la|le), l ouvrir",
    "act:open it:many": "(ouvre|ouvrez|rouvre) les, les ouvrir",
    "act:close it:one": "(ferme|fermez|referme) (la|le), (la|le) fermer",
    "act:close it:many": "(ferme|fermez|referme) les, les fermer",
    "act:lock it:one": "verrouill(e|ez) (la|le), (la|le) verrouiller",
    "act:unlock it:one": "déverrouill(e|ez) (la|le), (la|le) déverrouiller",
    "do it:one to": "(mets|met|mettez|règle|passe|baisse|monte) (la|le) (à|en)",
    "do it:one": "rends (la|le)",
    "do it:many to": "(mets|met|mettez|règle|passe|baisse|monte) les (à|en)",
    "do it:many": "rends les",
    and: "et, puis, et puis, ensuite, et ensuite, ainsi que, et aussi, et après, aussi, de même que, plus, et en même temps",
    "here:here":
      "ici, [dans|de] cette pièce, dans la pièce [où je suis], [dans] cette chambre ci, de la pièce, la pièce, cette pièce, cette salle, la salle, toute la pièce, la pièce entière",
    "here:home":
      "[dans|de|à] (la|ma|notre|toute la) maison, chez (moi|nous), partout [dans la maison], dans toute[s] (la maison|les pièces), (dans|de) (l appartement|l appart|le logement), dans tout l appartement, de toutes les pièces",
    "color:red":
      "[le|du] rouge[s], (la|une) (couleur|teinte|lumière|nuance) rouge[s], (teinte|couleur|paramètre|réglage|un paramètre|un réglage|du) rouge[s]",
    "color:green":
      "vert[e|s|es], (la|une) (couleur|teinte|lumière|nuance) vert[e|s|es], (teinte|couleur|paramètre|réglage|un paramètre|un réglage|du) vert[e|s|es]",
    "color:blue":
      "bleu[e|s|es], (la|une) (couleur|teinte|lumière|nuance) bleu[e|s|es], (teinte|couleur|paramètre|réglage|un paramètre|un réglage|du) bleu[e|s|es]",
    "color:yellow":
      "jaune[s], (la|une) (couleur|teinte|lumière|nuance) jaune[s], (teinte|couleur|paramètre|réglage|un paramètre|un réglage|du) jaune[s]",
    "color:orange":
      "orange, (la|une) (couleur|teinte|lumière|nuance) orange, (teinte|couleur|paramètre|réglage|un paramètre|un réglage|du) orange",
    "color:purple":
      "violet[te|s|tes], mauve, pourpre, lilas, (la|une) (couleur|teinte|lumière|nuance) (violet|violette|mauve), (teinte|couleur|paramètre|réglage|un paramètre|un réglage|du) (violet|violette|mauve)",
    "color:pink":
      "rose[s], (la|une) (couleur|teinte|lumière|nuance) rose[s], (teinte|couleur|paramètre|réglage|un paramètre|un réglage|du) rose[s]",
    "color:white":
      "blanc[he|s|hes], (la|une) (couleur|teinte|lumière|nuance) blanc[he|s|hes], (teinte|couleur|paramètre|réglage|un paramètre|un réglage|du) blanc[he|s|hes]",
    "color:turquoise": "turquoise",
    "color:cyan": "cyan",
    "color:magenta": "magenta",
    "color:brown": "marron, brun[e]",
    "color:black": "noir[e]",
    "white:warm":
      "blanc chaud, blanche chaude, lumière chaude, [un] blanc chaud, lumière chaude, couleur chaude, blanc chaleureux",
    "white:daylight": "lumière du jour, blanc du jour",
    "white:candle": "[une] bougie, lumière de bougie",
    "color:other": "une autre (couleur|teinte), une (nouvelle couleur|couleur différente|couleur aléatoire)",
    "white:neutral": "blanc neutre, blanc naturel",
    "white:cold":
      "blanc froid, lumière froide, blanche froide, [un] blanc froid, blanc glacial, couleur froide",
    "option:auto": "[mode] auto[matique], en automatique",
    "option:heat": "mode (chauffage|chauffe|chaud)",
    "option:cool": "mode (refroidissement|froid|climatisation|clim)",
    "option:dry": "mode (déshumidification|séchage|sec)",
    "option:fan_only": "mode (ventilation|ventilateur), ventilation seule",
    "option:eco": "[mode] (éco|économie|économique|économie d énergie)",
    "option:comfort": "[mode] confort",
    "option:boost": "[mode] boost",
    "option:away": "[mode] (absence|absent|vacances)",
    "option:sleep": "mode (nuit|sommeil)",
    "option:low": "[vitesse] (lente|basse|faible|minimale|bas), lentement, petite vitesse, en douceur",
    "option:medium": "[vitesse] (moyenne|moyen)",
    "option:high":
      "[vitesse] (rapide|élevée|haute|forte|maximale|haut), grande vitesse, pleine vitesse, turbo",
    "bound:maximum":
      "[le|son] maximum, max, maximal[e], (à fond|à pleine puissance|pleine puissance|plein|à plein|au max|au maximum), pleine luminosité, à fond, à son maximum",
    "bound:minimum": "[le|son] minimum, mini, minimal[e], au (minimum|plus bas|mini), min",
    half: "moitié, la moitié, demi, mi hauteur",
    "to half": "à moitié, à la moitié, à mi hauteur, à demi, à mi chemin, à mi course",
    and_half: "et demi[e]",
    point: "virgule",
    "unit:%": "%, pour cent, pourcent[s], pourcentage",
    "unit:% reading:brightness": "(%|pour cent|pourcent) (d intensité|de luminosité)",
    "unit:°": "°, degré[s]",
    "unit:°C": "°c, degré[s] celsius, celsius, c",
    "unit:°F": "°f, degré[s] fahrenheit, fahrenheit",
    "unit:K": "k, kelvin[s]",
    "unit:W": "w, watt[s]",
    "unit:kW": "kw, kilowatt[s]",
    "unit:kWh": "kwh, kilowattheure[s]",
    "unit:V": "v, volt[s]",
    "unit:A": "ampère[s]",
    "unit:ppm": "ppm",
    "unit:hPa": "hpa, hectopascal[s], millibars",
    "unit:lx": "lx, lux",
    "unit:GB": "go, gb, giga[s], gigaoctet[s]",
    "unit:MB": "mo, mb, mégaoctet[s]",
    to: "à, au, à (environ|peu près), sur, en, en mode, jusqu à, jusqu au, à la, avec, à un niveau de, de la couleur, en couleur, sur le mode, au mode, au niveau, à hauteur de, sur la, par, soit à, soient à, soit en, soient en, en une, dans une, au niveau de, à une luminosité de, à une intensité de, sous, pour qu (il|elle) soit [en]",
    by: "de, d, d environ, de encore",
    minus: "moins",
    "compare:above":
      "plus (de|que|haut que|haute que|élevé que|élevée que), supérieur[e] à, au dessus de, au delà de, est supérieur[e] à, au moins, plus d",
    "compare:above becomes": "dépasse[nt], excède[nt], (passe|monte) (au dessus|au delà) de",
    "compare:below":
      "moins (de|que|d), inférieur[e] à, en dessous de, au dessous de, sous, plus (bas|basse) que, au plus",
    "compare:below becomes": "(descend|passe|tombe|baisse) (sous|en dessous de|au dessous de)",
    "compare:equal": "égal[e] à, exactement",
    "compare:equal becomes": "atteint, atteignent, arrive à",
    "reading:temperature compare:above":
      "plus chaud[e] (que|de), fait plus (de|chaud que), il fait plus (de|chaud que), (fait il|il fait) plus (de|que)",
    "reading:temperature compare:below":
      "plus (froid|froide|frais|fraîche) (que|de), il fait (moins|plus froid) (de|que), fait moins de, (fait il|il fait) moins (de|que)",
    "reading:humidity compare:above": "plus humide (que|de)",
    "reading:power compare:above": "consomme plus (de|que)",
    "reading:power compare:below": "consomme moins (de|que)",
    changes: "change[nt], varie, a changé, changé",
    "stop:negation":
      "n, ne, pas, jamais, rien, aucun[e], sans, ni, non, nul, évite[z] [de], éviter, surtout pas, arrête de, inutile (de|d), interdit, refuse, plus jamais, nullement",
    "stop:exception":
      "sauf, excepté, hormis, à part, à l exception (de|du|des|d), mais, mis à part, hors, en dehors (de|du|des)",
    "stop:when":
      "si, s il, s ils, s elle, s elles, quand, lorsque, lorsqu, dès (que|qu), à chaque fois, chaque fois",
    "stop:condition":
      "tant (que|qu), pendant (que|qu), une fois [que|qu], à (moins|condition) (que|qu|de), au cas où, avant (que|qu|de|d|le|la|les|l|midi|minuit|ce|demain), après [que|qu], jusqu à ce (que|qu), jusque, parce (que|qu), puisque, puisqu, aussitôt, pour (que|qu), le temps que, tandis que",
    "stop:delay":
      "plus tard, bientôt, tout à l heure, ce soir, cette nuit, ce matin, cet après midi, ce midi, hier, tantôt, dans (un moment|un instant|quelques minutes|quelques instants|la soirée|la journée|la matinée), la (semaine|nuit) prochaine, la semaine prochaine, un jour, demain (matin|soir|midi|après midi), sous peu, prochainement, le soir, la nuit, de temps en temps, par la suite, minuit, à minuit",
    "stop:question":
      "pourquoi, (dois|devrais|devais|puis|peux|pourrais) je, est ce que je [dois|peux|devrais|devais|puis], (faut|faudrait) il [que je], (devrions|devons) nous, est ce (que nous|qu on|qu il faut|que l on) [devons|doit], as tu, avez vous, ai je, a t on, a t (il|elle), ont ils, est ce que (tu as|vous avez|j ai|on a), qui, (où|ou) (est|sont|se trouve|ai je|suis je), comment, quand est ce, avait, avaient, était, étaient, a été, était il, était elle, ont été, sera, seront, sera t (il|elle), serait il, que se passe t il, combien coûte, doit on, peut il, peut elle, doit, j ai, tu as, est ce grave, que faire",
    "stop:general":
      "qu est ce qu (un|une), c est quoi (un|une|des), (comment fonctionne|comment marche) [un|une|le|la|l], à quoi sert, différence entre, que signifie, que veut dire, définition",
    watch:
      "(préviens|prévenez|avertis|alerte|notifie|informe|dis|dites|signale) moi (quand|lorsque|lorsqu|dès que|dès qu|si jamais), (préviens|prévenez|avertis|avertissez|alerte|notifie|informe) moi (si|s), me (prévenir|avertir|alerter|dire) (quand|dès que|lorsque), me (prévenir|avertir|alerter) (si|s), envoie moi (un message|une notification|une alerte) (quand|si|dès que), fais moi savoir (quand|si|dès que), (être prévenu|que tu me préviennes) (quand|si)",
    remind:
      "(rappelle|rappelez) (moi|nous), fais moi penser, me rappeler, (crée|créer|mets|ajoute|programme|mettre|ajouter) [moi] un rappel, rappel, que tu me rappelles, n oublie pas de me rappeler",
    timer:
      "[mets|lance|démarre|règle|programme|crée] (un|une|le) (minuteur|minuterie), minuteur, minuterie, timer, (mets|lance) un timer, réveille moi, réveillez moi, (mets|règle|programme) [moi] (un|le) réveil",
    that: "de, d, que, qu, que je dois, qu il faut, que je, à, pour, que j ai, pour que je, au sujet de, du, des",
    model:
      "demande[z] (au modèle|à l ia|à l assistant|au llm), modèle, pose la question au modèle, demande à ton modèle",
    help: "[qu est ce que tu|que] (peux tu|sais tu|peux|sais) faire, aide, que puis je (dire|demander|te demander|faire), (qu est ce que|quoi) je peux (dire|demander|te demander|faire), comment peux tu m aider, aide moi, tu sais faire quoi, tu peux faire quoi, qu est ce que tu (sais|peux) faire, que pouvez vous faire, que savez vous faire, comment ça marche, que comprends tu, à quoi sers tu, quelles sont tes capacités, j ai besoin d aide",
    "clock:time":
      "quelle heure est il, il est quelle heure, quelle heure il est, l heure, heure, donne moi l heure, dis moi l heure, quelle est l heure, c est quelle heure, tu as l heure, as tu l heure, vous avez l heure, quelle heure est il maintenant, qu elle heure est il",
    "clock:date":
      "quel jour (sommes nous|on est|est on|est ce), on est quel jour, quelle est la date [d aujourd hui|du jour], date, la date, quelle date sommes nous, nous sommes quel jour, quel jour sommes nous aujourd hui, on est le combien, le combien sommes nous, quelle date est on",
    "ack:ack":
      "compris, c est compris, vu, j ai vu, je sais, reçu, bien reçu, d accord, noté, c est noté, je m en occupe, acquitter, acquitte, entendu, ça marche, je suis au courant",
    "ack:snooze":
      "répète plus tard, rappelle moi plus tard, snooze, reporter, reporte, rappelle le moi plus tard",
    "rule:rule": "règle, automatisation, automatisme",
    "show rule:rule+": "(quelles|quels) (règles|automatisations|automatismes) (ai je|est ce que j ai)",
    "rule:rule+": "règles, automatisations, automatismes",
    "rule:watch": "alerte, surveillance, notification, avertissement",
    "show rule:watch+":
      "(quelles|quels) (alertes|surveillances|notifications|avertissements) (ai je|est ce que j ai)",
    "rule:watch+": "alertes, surveillances, notifications, avertissements",
    "rule:reminder": "rappel, minuteur, réveil, minuterie",
    "show rule:reminder+": "(quels|quelles) (rappels|minuteurs|minuteries|réveils) (ai je|est ce que j ai)",
    "rule:reminder+": "rappels, minuteurs, réveils",
    "rule:briefing": "briefing, rapport, résumé",
    "show rule:briefing+": "quels (briefings|rapports|résumés) (ai je|est ce que j ai)",
    "rule:briefing+": "briefings, rapports, résumés",
    "cancel:cancel": "(annul|supprim|effac|enlèv|arrêt|désactiv)(e|er|ez)",
    "cancel:pause": "suspend[s|re|ez], mets en pause, mettre en pause, mettez en pause",
    "cancel:resume": "reprend[s|re], réactive[r|z], relance[r|z], continue[r|z]",
    "cancel:cancel rule:watch": "(arrête|arrêtez|cesse) de (surveiller|me prévenir pour|m alerter pour)",
    "cancel:cancel rule:reminder": "(arrête|arrêtez|cesse) de me rappeler [de|d]",
    or: "ou",
    "past:last tenseless": "quand [est ce que|est ce qu], à quelle heure",
    "past:since": "depuis (quand|combien de temps) [est ce que|est ce qu]",
    "past:duration tenseless":
      "[pendant] combien de temps [est ce que|est ce qu], combien (d heures|de minutes)",
    "past:count tenseless": "combien de fois [est ce que|est ce qu]",
    latest: "pour la dernière fois, la dernière fois, en dernier, dernièrement",
    was: "était, étaient, (a|ont) été, (est|sont) resté[e|s|es], elle, il",
    "state:running was": "(a|ont) (tourné|fonctionné|marché), a t (elle|il) (tourné|fonctionné|marché)",
    "state:open was": "(s est|a t elle été|a t il été) ouvert[e]",
    "period:today": "aujourd hui",
    "period:yesterday": "hier",
    "period:last_night": "la nuit dernière, cette nuit",
    "period:day": "[dans|pendant|au cours de] [ces|les] (24 dernières heures|dernières 24 heures)",
    "period:this_week": "cette semaine",
    "period:last_week": "la semaine (dernière|passée)",
    "period:this_month": "ce mois [ci]",
    "period:last_month": "le mois (dernier|passé)",
    at: "à, vers, à partir de, aux alentours de",
    for: "pendant, durant, depuis, (depuis|pendant) (plus de|plus d|au moins), plus (de|d), pour, au moins",
    after: "plus tard, à partir de maintenant",
    every: "(tous|toutes) les, chaque",
    "days:day": "jour[s]",
    "days:weekday": "jour[s] (de semaine|de la semaine|ouvré|ouvrés|ouvrable|ouvrables|de travail)",
    "days:weekend": "week end[s], weekend[s], fin de semaine",
    "every days:weekend": "(le|les) (week end|week ends|weekend)",
    "days:hour": "heure[s]",
    "days:today": "aujourd hui",
    "days:tomorrow": "demain",
    "days:mo": "[le] lundi[s]",
    "days:tu": "[le] mardi[s]",
    "days:we": "[le] mercredi[s]",
    "days:th": "[le] jeudi[s]",
    "days:fr": "[le] vendredi[s]",
    "days:sa": "[le] samedi[s]",
    "days:su": "[le] dimanche[s]",
    "daily:day": "quotidiennement, tous les jours, chaque jour",
    "daily:hour": "toutes les heures",
    "part:am": "du matin, le matin, matin, au matin",
    "part:pm": "de l après midi, du soir, le soir, l après midi",
    "part:morning": "matin[s], matinée",
    "part:noon": "midi[s]",
    "part:evening": "soir[s], après midi, soirée",
    "part:night": "nuit[s], la nuit",
    "span:0.016667": "seconde[s], sec",
    "span:1": "minute[s], min, mn",
    "span:60": "heure[s], h",
    "span:1440": "jour[s]",
    "minutes:30": "[une] demi heure",
    "minutes:15": "[un] quart d heure",
    "minutes:45": "[de|les] trois quarts d heure",
    "minutes:90": "une heure et demie, 1 heure et demie",
    oclock: "heure[s], h",
  },
};
