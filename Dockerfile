# The page in a container: docs/docker.md says how it is built and run.
FROM python:3.11.14-slim-trixie

ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONUNBUFFERED=1
WORKDIR /app

# First, so that a change of the program alone installs nothing anew.
COPY requirements-hashed.txt ./
RUN pip install --require-hashes -r requirements-hashed.txt

COPY app.py LICENSE ./
COPY assistant assistant
COPY prompts prompts
COPY working_dir_template working_dir_template
# The program cannot write beside its own files later.
RUN python -m compileall -q app.py assistant

# A volume takes over whose the folder is, so the home can be written and no other folder but the person's own.
RUN useradd --create-home --uid 10001 palimpsest && install --directory --mode=700 --owner=palimpsest --group=palimpsest /data
USER palimpsest
VOLUME /data
ENV PALIMPSEST_HOME=/data/palimpsest PALIMPSEST_HOST=0.0.0.0 PALIMPSEST_PORT=7860
EXPOSE 7860

HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "-c", "import http.client, os; page = http.client.HTTPConnection('127.0.0.1', int(os.environ['PALIMPSEST_PORT']), timeout=4); page.request('GET', '/health'); raise SystemExit(page.getresponse().status != 200)"]
# As Ctrl-C does: running turns end, and what was said is written.
STOPSIGNAL SIGINT
CMD ["python", "app.py"]
