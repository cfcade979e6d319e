package openapi

// desk is a document with what a usual API has.
const desk = `
openapi: 3.0.3
info: {title: Desk, version: "1"}
servers:
  - url: "{scheme}/v1/"
    variables: {scheme: {default: SERVER}}
paths:
  /tickets:
    parameters:
      - {name: X-Tenant, in: header, required: true, schema: {type: string}}
    get:
      operationId: listTickets
      summary: Lists tickets.
      parameters:
        - {name: tag, in: query, description: any of them, schema: {type: array, items: {type: string}}}
        - {name: ids, in: query, explode: false, schema: {type: array, items: {type: integer}}}
        - {name: open, in: query, schema: {type: boolean}}
        - {name: limit, in: query, schema: {type: integer, minimum: 1, exclusiveMinimum: true}}
        - {name: seen, in: cookie, schema: {type: string}}
      responses: {"200": {description: ok}}
    post:
      operationId: createTicket
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: "#/components/schemas/Ticket"}}}
      responses: {"201": {description: made}}
  /tickets/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {"200": {description: ok}}
    patch:
      operationId: upload
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      requestBody: {content: {multipart/form-data: {schema: {type: object}}}}
      responses: {"200": {description: ok}}
components:
  schemas:
    Ticket:
      type: object
      required: [id, title]
      properties:
        id: {type: string, readOnly: true}
        title: {type: string, example: Broken}
        due: {type: string, format: date, nullable: true}
        parent: {$ref: "#/components/schemas/Ticket"}
        tags: {type: array, items: {$ref: "#/components/schemas/Tag"}}
        example: {type: string}
    Tag: {type: string, enum: [red, green]}
`
