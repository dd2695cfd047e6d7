# `shadow serve` in a container: docker build -t shadow-gnn . && docker run -p 8080:8080 ... (docs/serving.md)
FROM python:3.11-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
COPY . /source
# PIP_ARGS: for example another index, for a build of torch without the gigabytes that only accelerators load.
ARG PIP_ARGS=
RUN python -m venv /app && /app/bin/pip install --no-cache-dir $PIP_ARGS '/source[serve]'

FROM python:3.11-slim
RUN useradd --create-home --uid 10001 shadow
COPY --from=build /app /app
ENV PATH=/app/bin:$PATH PYTHONUNBUFFERED=1
USER shadow
VOLUME ["/data"]
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD python -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/readyz', timeout=2)"
# /data/run: a run folder; /data/graph: a graph folder; the token comes from the environment or a mounted file.
ENTRYPOINT ["shadow", "serve", "/data/run", "--graph", "/data/graph", "--updates", "/data/updates", "--host", "0.0.0.0"]
