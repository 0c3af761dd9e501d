// The dashboard's own script: the key, the live connection's state, copy buttons, the playground.
// htmx does the live updates. Texts from outside are only ever set as textContent.
'use strict';

(() => {
  const KEY = 'flotilla.key';
  const SILENCE_MAX_MS = 30_000;
  const CHARACTERS_SHOWN_MAX = 400_000;
  const ANSWER_TOKENS_MAX = 1024; // small models go on for as long as they may
  const byId = id => document.getElementById(id);
  const storedKey = () => sessionStorage.getItem(KEY) ?? '';

  // ---- the key -------------------------------------------------------------------------------

  const signIn = byId('sign-in');
  const live = byId('live');

  function askForKey(said) {
    if (!signIn) {
      location.reload(); // the hub demands keys now: its page has the form
      return;
    }
    sessionStorage.removeItem(KEY);
    signIn.hidden = false;
    byId('sign-in-said').textContent = said;
    byId('key').focus();
  }

  byId('sign-in-form')?.addEventListener('submit', event => {
    event.preventDefault();
    sessionStorage.setItem(KEY, byId('key').value.trim());
    byId('key').value = '';
    byId('sign-in-said').textContent = '';
    connect();
  });

  document.addEventListener('htmx:config:request', event => {
    if (storedKey()) {
      event.detail.ctx.request.headers['Authorization'] = 'Bearer ' + storedKey();
    }
  });

  // ---- the live connection -------------------------------------------------------------------

  let connection = null;
  let lastHeard = Date.now();

  function showConnection(state, words) {
    const element = byId('connection');
    if (element.dataset.state !== state || element.textContent !== words) {
      element.dataset.state = state;
      element.textContent = words;
    }
  }

  function connect() {
    showConnection('busy', 'connecting');
    live.dispatchEvent(new CustomEvent('flotilla:connect'));
  }

  document.addEventListener('htmx:sse:after:connection', event => {
    connection = event.detail.connection;
    lastHeard = Date.now();
    showConnection('live', 'live');
    document.body.dataset.locked = 'no';
    if (signIn) {
      signIn.hidden = true;
    }
  });
  document.addEventListener('htmx:sse:before:connection', event => {
    if (event.detail.connection.attempt > 0) {
      showConnection('lost', 'reconnecting');
    }
  });
  document.addEventListener('htmx:sse:error', event => {
    if (event.detail.status === 401) {
      location.reload(); // the key is no longer in force, or keys are demanded since
    } else {
      showConnection('lost', 'reconnecting');
    }
  });
  document.addEventListener('htmx:sse:after:message', () => {
    lastHeard = Date.now();
  });

  // Only a first connection comes here: htmx itself repeats one that had been made.
  function connectLater(words) {
    showConnection('lost', words);
    setTimeout(connect, 3000);
  }
  document.addEventListener('htmx:response:error', event => {
    if (event.detail.ctx.response.status === 401) {
      showConnection('idle', 'not live');
      askForKey(storedKey() ? 'That key is not in force here.' : '');
    } else {
      connectLater(event.detail.ctx.response.status === 503 ? 'too many pages' : 'reconnecting');
    }
  });
  document.addEventListener('htmx:error', () => connectLater('reconnecting'));

  // A sleeping laptop's connection is dead and says nothing: silence is how one knows.
  setInterval(() => {
    if (connection && !document.hidden && Date.now() - lastHeard > SILENCE_MAX_MS) {
      lastHeard = Date.now();
      connection.reader?.cancel();
    }
  }, 5000);

  // ---- what the server can't know: the zone, the address, what was chosen ---------------------

  function localise(root) {
    for (const time of root.querySelectorAll('time[datetime]')) {
      const at = new Date(time.dateTime);
      if (!Number.isNaN(at.valueOf())) {
        const today = at.toDateString() === new Date().toDateString();
        const clock = at.toLocaleTimeString([], {hour12: false});
        time.textContent = today ? clock : at.toLocaleDateString([], {month: 'short', day: 'numeric'}) + ' ' + clock;
        time.title = time.dateTime;
      }
    }
    for (const code of root.querySelectorAll('.curl code')) {
      code.textContent = code.textContent.replace(/https?:\/\/[^/\s']+(?=\/v1\/)/, location.origin);
    }
  }

  function syncModels() {
    const select = byId('play-model');
    const names = [...document.querySelectorAll('#models li[data-chats=yes]')].map(li => li.dataset.model);
    if (names.join('\n') !== [...select.options].map(option => option.value).join('\n')) {
      const chosen = select.value;
      select.replaceChildren(...names.map(name => new Option(name, name)));
      if (names.includes(chosen)) {
        select.value = chosen;
      }
    }
    byId('playground').hidden = names.length === 0;
  }

  function refresh() {
    localise(document);
    syncModels();
  }
  document.addEventListener('htmx:after:swap', refresh);

  // ---- copy ------------------------------------------------------------------------------------

  document.addEventListener('click', async event => {
    const button = event.target.closest('button[data-copy]');
    if (!button) {
      return;
    }
    const code = byId(button.dataset.copy)?.querySelector('code');
    try {
      await navigator.clipboard.writeText(code.textContent.trim());
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(code); // no clipboard without TLS: select it instead
      button.textContent = 'Selected';
    }
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  });

  // ---- the playground --------------------------------------------------------------------------

  const form = byId('playground');
  const answer = byId('play-answer');
  const facts = byId('play-facts');
  let running = null;

  async function* events(body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let buffer = '';
    for (;;) {
      const {done, value} = await reader.read();
      if (done) {
        return;
      }
      buffer += value;
      const lines = buffer.split('\n');
      buffer = lines.pop();
      for (const line of lines) {
        if (line.startsWith('data:')) {
          yield line.slice(5).trim();
        }
      }
    }
  }

  function append(kind, text) {
    let last = answer.lastElementChild;
    if (last?.className !== kind) {
      last = document.createElement('span');
      last.className = kind;
      answer.append(last);
    }
    if (answer.textContent.length < CHARACTERS_SHOWN_MAX) {
      const follow = answer.scrollHeight - answer.scrollTop - answer.clientHeight < 40;
      last.append(text);
      if (follow) {
        answer.scrollTop = answer.scrollHeight;
      }
    }
  }

  async function errorOf(response) {
    const text = await response.text();
    try {
      return JSON.parse(text).error.message;
    } catch {
      return `${response.status} ${response.statusText}`;
    }
  }

  function describe(run) {
    const parts = [];
    if (run.worker) {
      parts.push('answered by ' + run.worker + (run.attempts > 1 ? ` (attempt ${run.attempts})` : ''));
    }
    if (run.firstAt) {
      parts.push(`first token after ${Math.round(run.firstAt - run.startedAt)} ms`);
    }
    const tokens = run.usage?.completion_tokens ?? run.pieces;
    if (tokens) {
      parts.push(`${run.usage ? '' : 'about '}${tokens} tokens`);
      const seconds = (run.lastAt - run.firstAt) / 1000;
      if (seconds > 0 && tokens > 1) {
        parts.push(`${((tokens - 1) / seconds).toFixed(1)} tok/s`);
      }
    }
    if (run.finish) {
      parts.push('ended with ' + run.finish);
    }
    return parts.join(' · ');
  }

  function take(run, data) {
    if (data === '[DONE]') {
      run.done = true;
      return;
    }
    const event = JSON.parse(data);
    if (event.error) {
      throw new Error(event.error.message);
    }
    run.usage = event.usage ?? run.usage;
    const choice = event.choices?.[0];
    run.finish = choice?.finish_reason ?? run.finish;
    const reasoning = choice?.delta?.reasoning_content;
    const text = choice?.delta?.content;
    if (reasoning || text) {
      run.lastAt = performance.now();
      run.firstAt ||= run.lastAt;
      run.pieces++;
      append(text ? 'text' : 'reasoning', text || reasoning);
      facts.textContent = describe(run);
    }
  }

  async function ask(run) {
    const messages = [{role: 'user', content: byId('play-message').value}];
    if (byId('play-system').value.trim()) {
      messages.unshift({role: 'system', content: byId('play-system').value});
    }
    const headers = {'Content-Type': 'application/json'};
    if (storedKey()) {
      headers['Authorization'] = 'Bearer ' + storedKey();
    }
    const response = await fetch('/v1/chat/completions', {
      method: 'POST',
      headers,
      signal: run.abort.signal,
      body: JSON.stringify({
        model: byId('play-model').value, messages, stream: true, stream_options: {include_usage: true},
        max_tokens: ANSWER_TOKENS_MAX,
      }),
    });
    run.worker = response.headers.get('x-flotilla-worker');
    run.attempts = Number(response.headers.get('x-flotilla-attempts') ?? 1);
    if (!response.ok) {
      throw new Error(await errorOf(response));
    }
    for await (const data of events(response.body)) {
      take(run, data);
    }
    if (!run.done) {
      throw new Error('The stream ended before its end was announced.');
    }
  }

  form.addEventListener('submit', async event => {
    event.preventDefault();
    if (running) {
      return;
    }
    const run = {abort: new AbortController(), startedAt: performance.now(), pieces: 0, finish: ''};
    running = run;
    answer.replaceChildren();
    answer.setAttribute('aria-busy', 'true');
    facts.textContent = 'waiting for the first token';
    byId('play-send').disabled = true;
    byId('play-stop').disabled = false;
    try {
      await ask(run);
      facts.textContent = describe(run);
    } catch (error) {
      const stopped = run.abort.signal.aborted;
      append(stopped ? 'dim' : 'failed', stopped ? ' (stopped)' : error.message);
      facts.textContent = describe(run);
    } finally {
      running = null;
      answer.removeAttribute('aria-busy');
      byId('play-send').disabled = false;
      byId('play-stop').disabled = true;
    }
  });
  byId('play-stop').addEventListener('click', () => running?.abort.abort());
  byId('play-message').addEventListener('keydown', event => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      form.requestSubmit();
    }
  });

  // ---- start: after htmx, which has made its triggers by then ----------------------------------

  addEventListener('load', () => {
    refresh();
    if (document.body.dataset.locked === 'yes' && !storedKey()) {
      askForKey('');
    } else {
      connect();
    }
  });
})();
