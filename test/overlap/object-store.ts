// A server for tests that answers as S3 does, as far as jobs ask: ranges, conditions, uploads in parts, lists. It keeps what S3
// promises: requests must be signed, tags are MD5s, parts below 5 MiB are refused but for the last, and an object appears when
// its upload is completed. A test can have any request fail.

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const secret = 'a-secret-that-is-never-written-down';
export const keyId = 'AKIDOFTESTS';

/** A request, as tests look at it. */
export interface Asked {
  readonly number: number;
  readonly method: string;
  /** What is asked, for example `'UploadPart'`. */
  readonly what: string;
  readonly key: string;
  readonly headers: IncomingMessage['headers'];
}

/** What happens in place of an answer: a refusal, one that breaks off, or none, before or after it was done, or for ever. */
export type Fault =
  | { readonly status: number; readonly code: string }
  | 'cut'
  | 'drop'
  | 'drop after'
  | 'hang';

interface Upload {
  readonly key: string;
  readonly parts: Map<number, { readonly bytes: Buffer; readonly tag: string }>;
}

const bucket = 'data';
const mib5 = 5 * 2 ** 20;
const sumOf = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex');

/** A store, which a process has as long as it likes. */
export class ObjectStore {
  readonly objects = new Map<string, { bytes: Buffer; tag: string; about?: Record<string, string> }>();
  readonly uploads = new Map<string, Upload>();
  asked: Asked[] = [];
  fault: (asked: Asked) => Fault | undefined = () => undefined;
  origin = '';
  readonly #server: Server;
  #begun = 0;

  constructor() {
    this.#server = createServer(
      (request, response) => void handle(this, request, response).catch(() => response.destroy()),
    );
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    this.origin = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** What leads a process to it. */
  get environment(): Readonly<Record<string, string>> {
    return {
      AWS_ENDPOINT_URL_S3: this.origin,
      AWS_ACCESS_KEY_ID: keyId,
      AWS_SECRET_ACCESS_KEY: secret,
      AWS_REGION: 'eu-west-1',
      // A refusal is final sooner.
      AWS_MAX_ATTEMPTS: '2',
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    };
  }

  forget(): void {
    this.objects.clear();
    this.uploads.clear();
    this.asked = [];
    this.fault = () => undefined;
  }

  /** Has the store have an object; its name. */
  put(key: string, bytes: Uint8Array): string {
    this.objects.set(key, { bytes: Buffer.from(bytes), tag: `"${sumOf(bytes)}"` });
    return `s3://${bucket}/${key}`;
  }

  /** The bytes of an object of that name. */
  get(name: string): Buffer | undefined {
    return this.objects.get(name.slice(`s3://${bucket}/`.length))?.bytes;
  }

  /** Begins an upload; its id. */
  begin(key: string): string {
    const id = `upload-${++this.#begun}`;
    this.uploads.set(id, { key, parts: new Map() });
    return id;
  }
}

class Refusal extends Error {
  readonly status: number;
  constructor(status: number, code: string) {
    super(code);
    this.status = status;
  }
}

const whatOf = (method: string, query: URLSearchParams, key: string): string => {
  if (key === '') return 'List';
  if (query.has('uploads')) return 'CreateUpload';
  if (!query.has('uploadId')) return { GET: 'Get', HEAD: 'Head', PUT: 'Put', DELETE: 'Delete' }[method]!;
  return { PUT: 'UploadPart', POST: 'Complete', DELETE: 'Abort', GET: 'ListParts' }[method]!;
};

/** The answer to a request: its body, its number, its headers. */
const answerTo = (
  store: ObjectStore,
  what: string,
  key: string,
  query: URLSearchParams,
  asked: IncomingMessage,
  body: Buffer,
) => {
  const { headers } = asked;
  const answer = { status: 200, headers: {} as Record<string, string>, body: Buffer.alloc(0) as Buffer };
  const xml = (text: string) => {
    answer.headers['content-type'] = 'application/xml';
    answer.body = Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>${text}`);
  };
  const object = store.objects.get(key);
  const upload = () => {
    const found = store.uploads.get(query.get('uploadId')!);
    if (found === undefined || found.key !== key) throw new Refusal(404, 'NoSuchUpload');
    return found;
  };
  const checkAbsent = () => {
    if (headers['if-none-match'] === '*' && object !== undefined)
      throw new Refusal(412, 'PreconditionFailed');
  };
  switch (what) {
    case 'Head':
    case 'Get': {
      if (object === undefined) throw new Refusal(404, 'NoSuchKey');
      const { bytes, tag } = object;
      if (headers['if-match'] !== undefined && headers['if-match'] !== tag)
        throw new Refusal(412, 'PreconditionFailed');
      Object.assign(answer.headers, { ...object.about, etag: tag });
      const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(headers.range ?? '') ?? [];
      if (first === undefined) {
        answer.body = bytes;
        break;
      }
      const begin = first === '' ? Math.max(0, bytes.length - Number(last)) : Number(first);
      const end = first === '' ? bytes.length : Math.min(bytes.length, Number(last) + 1);
      if (begin >= bytes.length) throw new Refusal(416, 'InvalidRange');
      answer.status = 206;
      answer.headers['content-range'] = `bytes ${begin}-${end - 1}/${bytes.length}`;
      answer.body = bytes.subarray(begin, end);
      break;
    }
    case 'Put': {
      checkAbsent();
      store.put(key, body);
      const about = Object.entries(headers).filter(([name]) => name.startsWith('x-amz-meta-'));
      const put = store.objects.get(key)!;
      put.about = Object.fromEntries(about) as Record<string, string>;
      answer.headers.etag = put.tag;
      break;
    }
    case 'Delete':
      store.objects.delete(key);
      answer.status = 204;
      break;
    case 'CreateUpload': {
      const id = store.begin(key);
      xml(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
      break;
    }
    case 'UploadPart': {
      const md5 = headers['content-md5'];
      if (md5 !== Buffer.from(sumOf(body), 'hex').toString('base64')) throw new Refusal(400, 'BadDigest');
      const tag = `"${sumOf(body)}"`;
      upload().parts.set(Number(query.get('partNumber')), { bytes: body, tag });
      answer.headers.etag = tag;
      break;
    }
    case 'ListParts': {
      // A page has two, so that there are pages.
      const from = Number(query.get('part-number-marker') ?? 0);
      const all = [...upload().parts].sort(([a], [b]) => a - b).filter(([number]) => number > from);
      const parts = all
        .slice(0, 2)
        .map(
          ([number, { bytes, tag }]) =>
            `<Part><PartNumber>${number}</PartNumber><ETag>${tag}</ETag><Size>${bytes.length}</Size></Part>`,
        );
      const next = all.length > 2 ? `<NextPartNumberMarker>${all[1]![0]}</NextPartNumberMarker>` : '';
      xml(
        `<ListPartsResult>${next}<IsTruncated>${all.length > 2}</IsTruncated>${parts.join('')}</ListPartsResult>`,
      );
      break;
    }
    case 'Abort':
      upload();
      store.uploads.delete(query.get('uploadId')!);
      answer.status = 204;
      break;
    case 'Complete': {
      const { parts } = upload();
      const text = body.toString().replaceAll('&quot;', '"');
      const wanted = [...text.matchAll(/<Part>.*?<\/Part>/gs)].map(([part]) => {
        const number = Number(/<PartNumber>(\d+)</.exec(part)?.[1]);
        const there = parts.get(number);
        if (there === undefined || there.tag !== /<ETag>(.*?)</.exec(part)?.[1])
          throw new Refusal(400, 'InvalidPart');
        return { number, ...there };
      });
      if (wanted.length === 0) throw new Refusal(400, 'MalformedXML');
      if (wanted.some(({ number }, i) => i > 0 && number <= wanted[i - 1]!.number))
        throw new Refusal(400, 'InvalidPartOrder');
      if (wanted.slice(0, -1).some(({ bytes }) => bytes.length < mib5))
        throw new Refusal(400, 'EntityTooSmall');
      checkAbsent();
      const sums = Buffer.from(wanted.map(({ tag }) => tag.slice(1, -1)).join(''), 'hex');
      const tag = `"${sumOf(sums)}-${wanted.length}"`;
      store.objects.set(key, { bytes: Buffer.concat(wanted.map(({ bytes }) => bytes)), tag });
      store.uploads.delete(query.get('uploadId')!);
      xml(`<CompleteMultipartUploadResult><ETag>${tag}</ETag></CompleteMultipartUploadResult>`);
      break;
    }
    default: {
      const prefix = query.get('prefix') ?? '';
      const keys = [...store.objects.keys()].filter((one) => one.startsWith(prefix)).sort();
      const from = Number(query.get('continuation-token') ?? 0);
      const page = keys.slice(from, from + 2).map((one) => {
        const { bytes, tag } = store.objects.get(one)!;
        return `<Contents><Key>${one}</Key><ETag>${tag}</ETag><Size>${bytes.length}</Size></Contents>`;
      });
      const isCut = from + 2 < keys.length;
      const next = isCut ? `<NextContinuationToken>${from + 2}</NextContinuationToken>` : '';
      xml(`<ListBucketResult><IsTruncated>${isCut}</IsTruncated>${next}${page.join('')}</ListBucketResult>`);
    }
  }
  return answer;
};

const handle = async (store: ObjectStore, request: IncomingMessage, response: ServerResponse) => {
  const url = new URL(request.url!, 'http://host');
  const [, place, ...rest] = url.pathname.split('/').map(decodeURIComponent);
  const key = rest.join('/');
  const what = whatOf(request.method!, url.searchParams, key);
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const asked: Asked = {
    ...{ number: store.asked.length + 1, method: request.method!, what, key, headers: request.headers },
  };
  store.asked.push(asked);
  const fault = store.fault(asked);
  const refuse = (status: number, code: string) =>
    response
      .writeHead(status, { 'content-type': 'application/xml' })
      // S3 repeats in some refusals what was signed with.
      .end(`<Error><Code>${code}</Code><Message>of ${keyId} ${secret}</Message></Error>`);
  if (fault === 'hang') return;
  if (fault === 'drop') return void request.socket.destroy();
  if (typeof fault === 'object') return void refuse(fault.status, fault.code);
  try {
    const signed = `AWS4-HMAC-SHA256 Credential=${keyId}/`;
    if (!request.headers.authorization?.startsWith(signed)) throw new Refusal(403, 'AccessDenied');
    if (place !== bucket) throw new Refusal(404, 'NoSuchBucket');
    const answer = answerTo(store, what, key, url.searchParams, request, Buffer.concat(pieces));
    if (fault === 'drop after') return void request.socket.destroy();
    const isHead = request.method === 'HEAD';
    response.writeHead(answer.status, { ...answer.headers, 'content-length': answer.body.length });
    if (fault !== 'cut') return void response.end(isHead ? undefined : answer.body);
    response.write(answer.body.subarray(0, answer.body.length >> 1), () => request.socket.destroy());
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (fault === 'drop after' || fault === 'cut') return void request.socket.destroy();
    refuse(error.status, error.message);
  }
};
