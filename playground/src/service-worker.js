// Keeps the page's files, so that it works without a network after the first visit: each comes from the network while
// there is one, and else from the cache. And isolates the page from others, as threads with shared memory need it,
// whatever the server sends: from the second load on, since this runs beside the first.

const cacheName = 'warpstage-playground';

self.addEventListener('install', (event) => {
  event.waitUntil(
    caches.open(cacheName).then(async (cache) => {
      const files = await (await fetch('./files.json')).json();
      await cache.addAll(['./', ...files]);
      await self.skipWaiting();
    }),
  );
});

self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

/** The response, with the headers of an isolated page. */
function isolated(response) {
  const headers = new Headers(response.headers);
  headers.set('Cross-Origin-Opener-Policy', 'same-origin');
  headers.set('Cross-Origin-Embedder-Policy', 'require-corp');
  const { body, status, statusText } = response;
  return new Response(body, { status, statusText, headers });
}

self.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET' || new URL(request.url).origin !== self.location.origin) return;
  event.respondWith(
    fetch(request).then(
      async (response) => {
        if (!response.ok) return response;
        await (await caches.open(cacheName)).put(request, response.clone());
        return isolated(response);
      },
      async (error) => {
        const kept = await caches.match(request, { ignoreSearch: true });
        if (kept === undefined) throw error;
        return isolated(kept);
      },
    ),
  );
});
