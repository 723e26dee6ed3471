// A load client that is not the bottleneck: one thread, epoll, keep-alive, bodies discarded in the kernel (MSG_TRUNC).
// Every answer's status, Content-Length and framing are checked; what is not as expected counts as bad.
//
//   load --port N --path P [--host 127.0.0.1] [--connections 16] [--seconds 2] [--header 'Name: value']...
//        [--status 200] [--length BYTES]
//   load --stall ...     every connection reads the head of one answer and then nothing more, for --seconds
//
// Prints one line of JSON. In stall mode a first line says {"stalled":N} when all connections are stalled.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEAD, SIZED, CHUNKED, STALLED, DONE };
enum { CHUNK_SIZE, CHUNK_DATA, CHUNK_END, CHUNK_LAST };

typedef struct {
  int fd, state, status, fill;
  long long left, total;
  int chunk_state, chunk_digits, chunk_crlf;
  double start;
  char head[16384];
} Connection;

static const char *host = "127.0.0.1", *path = "/";
static int port, connections = 16, want_status = 200, stall;
static double seconds = 2;
static long long want_length = -1;
static char headers[8192], request[16384];
static int request_length;

static long long requests, bytes, bad;
static char complaint[200];
static float *latency;
static size_t latencies, latency_room;
static char scratch[1 << 18];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static void die(const char *what) {
  fprintf(stderr, "load: %s: %s\n", what, errno ? strerror(errno) : "unexpected");
  exit(1);
}

static void complain(const char *what, long long got) {
  bad++;
  if (!complaint[0]) snprintf(complaint, sizeof complaint, "%s: %lld", what, got);
}

static void send_request(Connection *c) {
  c->state = HEAD;
  c->fill = 0;
  c->total = 0;
  c->start = now();
  if (send(c->fd, request, request_length, MSG_NOSIGNAL) != request_length) die("send");
}

static void finish(Connection *c, double end) {
  double t = now();
  requests++;
  if (c->status != want_status) complain("status", c->status);
  else if (want_length >= 0 && c->total != want_length) complain("length", c->total);
  if (latencies == latency_room) {
    latency_room = latency_room ? latency_room * 2 : 65536;
    latency = realloc(latency, latency_room * sizeof *latency);
    if (!latency) die("realloc");
  }
  latency[latencies++] = t - c->start;
  if (t < end) send_request(c);
  else c->state = DONE;
}

// Walks chunked framing; true when the last chunk is complete. Anything after it is an error: nothing is pipelined.
static int walk_chunks(Connection *c, const char *p, ssize_t n) {
  for (ssize_t i = 0; i < n;) {
    char ch = p[i];
    switch (c->chunk_state) {
    case CHUNK_SIZE:
      i++;
      if (ch == '\r') break;
      if (ch == '\n') {
        if (!c->chunk_digits) { errno = 0; die("chunk without a size"); }
        c->chunk_digits = 0;
        c->chunk_crlf = 0;
        c->chunk_state = c->left ? CHUNK_DATA : CHUNK_LAST;
        break;
      }
      int digit = ch >= '0' && ch <= '9' ? ch - '0' : (ch | 32) >= 'a' && (ch | 32) <= 'f' ? (ch | 32) - 'a' + 10 : -1;
      if (digit < 0) { errno = 0; die("chunk size is not hexadecimal"); }
      c->left = c->left * 16 + digit;
      c->chunk_digits++;
      break;
    case CHUNK_DATA: {
      long long k = n - i < c->left ? n - i : c->left;
      i += k;
      c->left -= k;
      c->total += k;
      bytes += k;
      if (!c->left) c->chunk_state = CHUNK_END;
      break;
    }
    case CHUNK_END:
      if (ch != (c->chunk_crlf ? '\n' : '\r')) { errno = 0; die("chunk does not end in CRLF"); }
      i++;
      if (c->chunk_crlf++) c->chunk_state = CHUNK_SIZE, c->left = 0;
      break;
    case CHUNK_LAST:
      if (ch != (c->chunk_crlf ? '\n' : '\r')) { errno = 0; die("last chunk does not end in CRLF"); }
      i++;
      if (c->chunk_crlf++) {
        if (i != n) { errno = 0; die("bytes after the answer"); }
        return 1;
      }
    }
  }
  return 0;
}

static char *field(char *head, const char *name) {
  size_t length = strlen(name);
  for (char *line = strstr(head, "\r\n"); line; line = strstr(line + 2, "\r\n"))
    if (!strncasecmp(line + 2, name, length) && line[2 + length] == ':') return line + 3 + length;
  return NULL;
}

// Handles one readiness of a connection: at most 8 reads, so that no connection starves the others.
static void readable(Connection *c, double end) {
  for (int turn = 0; turn < 8; turn++) {
    if (c->state == HEAD) {
      ssize_t k = recv(c->fd, c->head + c->fill, sizeof c->head - 1 - c->fill, 0);
      if (k < 0 && errno == EAGAIN) return;
      if (k <= 0) die("closed before an answer");
      c->fill += k;
      c->head[c->fill] = 0;
      char *blank = memmem(c->head, c->fill, "\r\n\r\n", 4);
      if (!blank) {
        if (c->fill >= (int)sizeof c->head - 1) { errno = 0; die("head too long"); }
        continue;
      }
      *blank = 0;
      char *body = blank + 4;
      ssize_t rest = c->fill - (body - c->head);
      if (strncmp(c->head, "HTTP/1.1 ", 9)) { errno = 0; die("not HTTP/1.1"); }
      c->status = atoi(c->head + 9);
      if (stall) {
        c->state = STALLED;
        return;
      }
      char *encoding = field(c->head, "transfer-encoding"), *length = field(c->head, "content-length");
      if (c->status == 304 || c->status == 204) {
        if (rest) { errno = 0; die("a body where there can't be one"); }
        finish(c, end);
        return;
      }
      if (encoding && strcasestr(encoding, "chunked")) {
        c->state = CHUNKED;
        c->chunk_state = CHUNK_SIZE;
        c->chunk_digits = c->chunk_crlf = 0;
        c->left = 0;
        if (walk_chunks(c, body, rest)) {
          finish(c, end);
          return;
        }
      } else {
        if (!length) { errno = 0; die("neither Content-Length nor chunked"); }
        c->state = SIZED;
        c->left = atoll(length) - rest;
        c->total = rest;
        bytes += rest;
        if (c->left < 0) { errno = 0; die("bytes after the answer"); }
        if (c->left == 0) {
          finish(c, end);
          return;
        }
      }
    } else if (c->state == SIZED) {
      size_t want = c->left < 1 << 22 ? c->left : 1 << 22;
      ssize_t k = recv(c->fd, scratch, want, MSG_TRUNC);
      if (k < 0 && errno == EAGAIN) return;
      if (k <= 0) die("closed inside a body");
      c->left -= k;
      c->total += k;
      bytes += k;
      if (c->left == 0) {
        finish(c, end);
        return;
      }
    } else if (c->state == CHUNKED) {
      ssize_t k = recv(c->fd, scratch, sizeof scratch, 0);
      if (k < 0 && errno == EAGAIN) return;
      if (k <= 0) die("closed inside a body");
      if (walk_chunks(c, scratch, k)) {
        finish(c, end);
        return;
      }
    } else return;
  }
}

static int by_value(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return x < y ? -1 : x > y;
}

static void read_arguments(int count, char **values) {
  for (int i = 1; i < count; i++) {
    const char *name = values[i];
    if (!strcmp(name, "--stall")) { stall = 1; continue; }
    if (i + 1 == count) { errno = 0; die(name); }
    const char *value = values[++i];
    if (!strcmp(name, "--host")) host = value;
    else if (!strcmp(name, "--port")) port = atoi(value);
    else if (!strcmp(name, "--path")) path = value;
    else if (!strcmp(name, "--connections")) connections = atoi(value);
    else if (!strcmp(name, "--seconds")) seconds = atof(value);
    else if (!strcmp(name, "--status")) want_status = atoi(value);
    else if (!strcmp(name, "--length")) want_length = atoll(value);
    else if (!strcmp(name, "--header")) {
      strncat(headers, value, sizeof headers - strlen(headers) - 3);
      strcat(headers, "\r\n");
    } else { errno = 0; die(name); }
  }
}

int main(int count, char **values) {
  read_arguments(count, values);
  request_length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: %s:%d\r\n%s\r\n", path, host, port, headers);
  int poll = epoll_create1(0);
  Connection *all = calloc(connections, sizeof *all);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  inet_pton(AF_INET, host, &address.sin_addr);
  for (int i = 0; i < connections; i++) {
    Connection *c = all + i;
    int one = 1;
    c->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(c->fd, (void *)&address, sizeof address)) die("connect");
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    fcntl(c->fd, F_SETFL, O_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    epoll_ctl(poll, EPOLL_CTL_ADD, c->fd, &event);
  }
  double start = now(), end = start + seconds;
  for (int i = 0; i < connections; i++) send_request(all + i);
  struct epoll_event events[256];
  for (int told = 0;;) {
    int busy = 0, stalled = 0;
    for (int i = 0; i < connections; i++) busy += all[i].state != DONE, stalled += all[i].state == STALLED;
    if (!busy || (stall && now() > end)) break;
    if (stall && !told && stalled == connections) {
      printf("{\"stalled\":%d}\n", stalled);
      fflush(stdout);
      told = 1;
    }
    if (now() > end + 20) { errno = 0; die("answers missing 20 s after the end"); }
    if (stall && stalled == connections) {
      usleep(20000);
      continue;
    }
    int ready = epoll_wait(poll, events, 256, 100);
    for (int i = 0; i < ready; i++) readable(events[i].data.ptr, end);
  }
  double took = now() - start;
  qsort(latency, latencies, sizeof *latency, by_value);
  double p50 = latencies ? latency[latencies / 2] : 0, p99 = latencies ? latency[(size_t)(latencies * .99)] : 0;
  printf("{\"rps\":%.1f,\"mbs\":%.2f,\"p50\":%.0f,\"p99\":%.0f,\"requests\":%lld,\"bad\":%lld,\"complaint\":\"%s\"}\n", requests / took,
         bytes / took / 1e6, p50 * 1e6, p99 * 1e6, requests, bad, complaint);
  return 0;
}
