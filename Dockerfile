# The service, for any role; by default it plays the demo on embedded stores in one volume:
#   docker build -t verustream .
#   docker run --read-only --tmpfs /tmp -v verustream:/data -p 127.0.0.1:8080:8080 verustream
# Pinned by digest: --build-arg NODE_IMAGE=node:22-bookworm-slim@sha256:<digest>
ARG NODE_IMAGE=node:22-bookworm-slim

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY infra/launch infra/launch
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error
RUN node infra/launch/postgres-libraries.mjs

FROM ${NODE_IMAGE}
ARG REVISION=unknown
LABEL org.opencontainers.image.title="verustream" \
      org.opencontainers.image.description="Explorer and market-data service for Verus chains" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.revision="${REVISION}"
# Explained in infra/launch/node-options.mjs.
ENV MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY . .
RUN install -d -o node -g node -m 700 /data /data/datasets
USER node
VOLUME /data
EXPOSE 8080
# The start first migrates the stores, which may take minutes; the start period ends with the first healthy answer.
HEALTHCHECK --interval=10s --timeout=5s --start-period=1h --retries=3 CMD ["node", "infra/launch/health-check.mjs"]
# The options of infra/launch/node-options.mjs; there is no launcher, so that signals reach the program directly.
ENTRYPOINT ["node", "--disable-warning=ExperimentalWarning", "--import", "/app/infra/launch/stripped-types.mjs", "--max-semi-space-size=64", "verustream.ts"]
CMD ["start"]
