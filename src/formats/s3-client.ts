// Objects of S3, and of stores that speak as it does: what is asked of them, and what a refusal means.
//
// The client is Amazon's own, an optional package that is loaded when an object is named. It finds credentials, region and
// endpoint by itself, and tries again what may pass. Nothing of these is read or written down here, and a refusal is told by
// its code alone: the text of one may repeat what was signed.

import { WarpstageError } from '../diagnostics/error.ts';
import { problem } from '../diagnostics/problem.ts';
import { shownUrl } from './url.ts';

/** What is asked of a store. */
type Command =
  | 'AbortMultipartUploadCommand'
  | 'CompleteMultipartUploadCommand'
  | 'CreateMultipartUploadCommand'
  | 'DeleteObjectCommand'
  | 'GetObjectCommand'
  | 'HeadObjectCommand'
  | 'ListObjectsV2Command'
  | 'ListPartsCommand'
  | 'PutObjectCommand'
  | 'UploadPartCommand';

interface Client {
  send(command: unknown, options: { readonly abortSignal?: AbortSignal | undefined }): Promise<unknown>;
}

/** As much of the package as is used. Its own types are not, so that programs without it compile. */
type Library = Readonly<Record<Command, new (input: object) => unknown>> & {
  readonly S3Client: new (options: object) => Client;
};

/** What an answer to a request for bytes is made of. */
export interface Answered {
  readonly Body?: AsyncIterable<Uint8Array> & { destroy(error?: Error): unknown };
  readonly ContentLength?: number;
  readonly ContentRange?: string;
  readonly ETag?: string;
  readonly Metadata?: Readonly<Record<string, string>>;
}

/** Milliseconds for a connection, and of silence, until the client tries again. */
const patience = { connectionTimeout: 10_000, socketTimeout: 60_000 } as const;

let library: Promise<Library> | undefined;
/** Clients by what they are told by the environment: they share connections, and credentials that were found. */
const clients = new Map<string, Client>();

async function loadLibrary(): Promise<Library> {
  // Not by a constant: a bundle for a browser must not take it along.
  const name = ['@aws-sdk', 'client-s3'].join('/');
  try {
    return (await import(name)) as Library;
  } catch (cause) {
    throw problem('WS6001', 'S3 needs a package that is not installed', `npm install ${name}`, cause);
  }
}

function clientOf({ S3Client }: Library): Client {
  const { AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_REGION, AWS_DEFAULT_REGION, AWS_PROFILE } = process.env;
  const endpoint = AWS_ENDPOINT_URL_S3 ?? AWS_ENDPOINT_URL;
  const region = AWS_REGION ?? AWS_DEFAULT_REGION ?? (endpoint === undefined ? undefined : 'us-east-1');
  const known = JSON.stringify([endpoint, region, AWS_PROFILE]);
  const client =
    clients.get(known) ??
    new S3Client({
      ...(region !== undefined && { region }),
      // Stores of one's own have one name for all buckets.
      ...(endpoint === undefined ? { followRegionRedirects: true } : { endpoint, forcePathStyle: true }),
      // Other stores do not know the checksums that Amazon's takes; parts are sent with their MD5.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: patience,
    });
  clients.set(known, client);
  return client;
}

/** An object, which need not be there. */
export class S3Object {
  /** For messages: `s3://bucket/key`. */
  readonly name: string;
  readonly #library: Library;
  readonly #client: Client;
  readonly #bucket: string;
  readonly key: string;

  private constructor(name: string, library: Library, client: Client, bucket: string, key: string) {
    this.name = name;
    this.#library = library;
    this.#client = client;
    this.#bucket = bucket;
    this.key = key;
  }

  /** Throws WS6001 where the client is not installed, or the name is none. */
  static async named(url: string): Promise<S3Object> {
    const name = shownUrl(url);
    const [, bucket, key] = /^s3:\/\/([a-z0-9][a-z0-9._-]*)\/(.+)$/is.exec(url) ?? [];
    if (bucket === undefined) {
      throw problem(
        'WS6001',
        `${name} names no object`,
        'write s3://bucket/key; credentials are in the environment, and never in a name',
      );
    }
    library ??= loadLibrary();
    library.catch(() => {
      library = undefined;
    });
    const loaded = await library;
    return new S3Object(name, loaded, clientOf(loaded), bucket, key!);
  }

  /** What the store answers. Throws what the client does: see `refusedObject`. */
  async send<T>(command: Command, input: object, signal?: AbortSignal): Promise<T> {
    const about = { Bucket: this.#bucket, ...(command !== 'ListObjectsV2Command' && { Key: this.key }) };
    const asked = new this.#library[command]({ ...about, ...input });
    return (await this.#client.send(asked, { abortSignal: signal })) as T;
  }

  /** The object's length and version; undefined where there is none. Throws as `send` does. */
  async head(signal?: AbortSignal): Promise<Answered | undefined> {
    try {
      return await this.send<Answered>('HeadObjectCommand', {}, signal);
    } catch (cause) {
      if (refusalOf(cause).status === 404) return undefined;
      throw cause;
    }
  }
}

/** A refusal by its code, and by the number of HTTP where a store has answered. */
export function refusalOf(cause: unknown): { readonly code: string; readonly status: number | undefined } {
  const { name, code, $metadata } = (cause ?? {}) as {
    readonly name?: string;
    readonly code?: string;
    readonly $metadata?: { readonly httpStatusCode?: number };
  };
  const status = $metadata?.httpStatusCode;
  return { code: (status === undefined ? code : undefined) ?? name ?? 'Error', status };
}

/** What refusals mean, and what to do. */
const refusals: Readonly<Record<string, readonly [why: string, hint: string]>> = {
  NoSuchBucket: [
    'there is no such bucket',
    'check its name, and AWS_ENDPOINT_URL_S3 where the store is not Amazon',
  ],
  NoSuchKey: ['there is no such object', 'check its key; keys have no patterns: name each object'],
  NotFound: ['there is no such bucket or object', 'check its name'],
  NoSuchUpload: [
    'its upload was ended from elsewhere',
    'run it again, when nothing else writes it and no rule of the bucket ends uploads so soon',
  ],
  AccessDenied: ['access is denied', 'allow it to the credentials that the environment has'],
  Forbidden: ['access is denied', 'allow it to the credentials that the environment has'],
  InvalidAccessKeyId: ['the store does not know the credentials', 'check AWS_ACCESS_KEY_ID, or AWS_PROFILE'],
  SignatureDoesNotMatch: ['the credentials are wrong', 'check AWS_SECRET_ACCESS_KEY, or AWS_PROFILE'],
  CredentialsProviderError: [
    'there are no credentials',
    'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE',
  ],
  PermanentRedirect: ['its bucket is in another region', 'set AWS_REGION to that of the bucket'],
  InvalidObjectState: ['it is archived', 'restore it first'],
  RequestTimeTooSkewed: ['the clock of this machine is wrong', 'set the clock'],
};

/** Refusals that pass, with new credentials or with time. */
const passing: Readonly<Record<string, readonly [why: string, hint: string]>> = {
  ExpiredToken: ['the credentials have expired', 'get new ones, and run it again'],
  ExpiredTokenException: ['the credentials have expired', 'get new ones, and run it again'],
  TokenRefreshRequired: ['the credentials have expired', 'get new ones, and run it again'],
  SlowDown: ['the store asks for fewer requests', 'run it again later'],
};

/** The error of an object that cannot be read or written: WS5020 where another try may do better, else WS5003 or WS5006. */
export function refusedObject(name: string, cause: unknown, use: 'read' | 'written'): WarpstageError {
  if (cause instanceof WarpstageError) return cause;
  const { code, status } = refusalOf(cause);
  const say = (which: 'WS5003' | 'WS5006' | 'WS5020', [why, hint]: readonly [string, string]) =>
    problem(which, `${name} cannot be ${use}: ${why}`, hint);
  const own = use === 'read' ? 'WS5003' : 'WS5006';
  if (passing[code] !== undefined) return say('WS5020', passing[code]);
  if (refusals[code] !== undefined) return say(own, refusals[code]);
  if (status === undefined) {
    if (/region is missing/i.test(String((cause as Error)?.message)))
      return say(own, ['no region is set', 'set AWS_REGION to that of the bucket']);
    return say('WS5020', [
      `the store does not answer (${code})`,
      'check the network, and AWS_ENDPOINT_URL_S3 where it is set; then run it again',
    ]);
  }
  const why = `the store answers ${status} ${code}`;
  if (status >= 500 || status === 429 || status === 409) return say('WS5020', [why, 'run it again later']);
  return say(own, [why, 'check the name, and who may use it']);
}
