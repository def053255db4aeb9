// Keeps the page's files, so that it works without a network after the first visit. Files that do not change are taken
// from the cache; the others from the network while there is one.

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

self.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET' || new URL(request.url).origin !== self.location.origin) return;
  event.respondWith(
    fetch(request).then(
      async (response) => {
        if (response.ok) await (await caches.open(cacheName)).put(request, response.clone());
        return response;
      },
      async (error) => {
        const kept = await caches.match(request, { ignoreSearch: true });
        if (kept === undefined) throw error;
        return kept;
      },
    ),
  );
});
